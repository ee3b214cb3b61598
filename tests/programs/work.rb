# Ruby: blocks, exceptions, catch and throw, fibers, threads, regular expressions.
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
text = File.read(ARGV[0])
count = text.downcase.scan(/\w+/).tally
puts count.sort_by { |word, n| [-n, word] }.first(5).inspect
failed = 0
3000.times do |i|
  begin
    raise ArgumentError, i.to_s if i % 3 == 0
    Integer("x#{i}") if i % 3 == 1
  rescue ArgumentError
    failed += 1
  ensure
    failed += 0
  end
end
found = catch(:done) { 100.times { |a| 100.times { |b| throw :done, [a, b] if a * b == 56 } }; nil }
fiber = Fiber.new { 50.times { |i| Fiber.yield i * i }; :end }
squares = 50.times.sum { fiber.resume }
threads = 6.times.map { |n| Thread.new { fib(10 + n) } }.map(&:value)
continued = callcc { |k| 5 } rescue "none"
puts [fib(20), failed, found, squares, threads, text.gsub(/[aeiou]/, "*").sum, continued].inspect
puts (1..200).inject(:*).to_s[0, 30], [3, 1, 2].sort { |a, b| b <=> a }.inspect, format("%.6f", Math.sqrt(2))
