-- Lua: calls, strings, tables, errors, coroutines.
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local words, count = {}, {}
for i = 1, 20000 do words[i] = string.format("word%d", i * 7919 % 997) end
for _, word in ipairs(words) do count[word] = (count[word] or 0) + 1 end
table.sort(words, function(a, b) return #a == #b and a < b or #a < #b end)
local text = table.concat(words, " ")
print(fib(22), words[1], words[#words], #text, (text:gsub("word(%d)", "%1")):sub(1, 40))
local failed = 0
for i = 1, 2000 do
  local ok = pcall(function() if i % 2 == 0 then error({i}) end return fib(3) end)
  if not ok then failed = failed + 1 end
end
local sum = 0
local make = function(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
for i = 1, 200 do for value in make(i) do sum = sum + value end end
print(failed, sum, text:find("word996 word996"), string.rep("ab", 3), math.floor(2 ^ 40))
