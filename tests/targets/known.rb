# A program of which every stack is known, as known-python.py is; who calls whom stands in
# tests/e2e/test-interpreters.py.
#
# known.rb SECONDS [KIND]: KIND is "fork" (the work is a child's), "spawn" (of an interpreter that is executed) or
# "threads".

def k_short(x) = x + 1

def k_chain_4(x)
  n = 20
  while n > 0
    x = k_short(x)
    n -= 1
  end
  x
end

def k_chain_3(x) = k_chain_4(x)
def k_chain_2(x) = k_chain_3(x)
def k_chain_1(x) = k_chain_2(x)

def k_bottom(x) = x * 3
def k_recurse(n) = n > 0 ? k_recurse(n - 1) : k_bottom(n)

def k_given(x) = x * x

def k_generate(n)
  n.times { |i| yield k_given(i) }
end

def k_consume(n)
  s = 0
  k_generate(n) { |x| s += x }
  s
end

def k_map(x) = x & 7
def k_key(x) = [x, x + 1, 3].map { |y| k_map(y) }.sum
def k_sort(n) = n.times.to_a.sort_by { |x| k_key(x) }

def k_raise_3(x) = raise(ArgumentError, "no")
def k_raise_2(x) = k_raise_3(x)

def k_raise_1(x)
  k_raise_2(x)
ensure
  x += 1
end

def k_try(x)
  k_raise_1(x)
rescue ArgumentError
  x
end

class KBase
  def inherited_one(n) = self.class.fixed(n) + made_up
  def self.fixed(n) = n % 5
  def method_missing(name) = name.length
  define_method(:defined_one) { |n| n + 1 }
end

class KObject < KBase; end

def k_methods(n)
  object = KObject.new
  n.times do |i|
    object.inherited_one(i)
    object.defined_one(i)
  end
end

def k_closure(n)
  given = ->(x) { k_given(x) }
  i = 0
  while i < n
    given.call(i)
    i += 1
  end
end

def k_in_fiber(n) = n < 2 ? n : k_in_fiber(n - 1) + k_in_fiber(n - 2)
def k_body = 3.times { Fiber.yield k_in_fiber(8) }

def k_fiber
  fiber = Fiber.new { k_body }
  fiber.resume while fiber.alive?
end

def k_hot(n)
  s = 0
  i = 0
  while i < n
    s += i
    i += 1
  end
  s
end

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

def k_main(seconds)
  till = now + seconds
  made = 0
  while now < till
    20.times do |i|
      k_chain_1(i)
      k_recurse(30)
      k_try(i)
    end
    k_consume(60)
    k_sort(40)
    k_methods(60)
    k_closure(60)
    k_fiber
    k_hot(2000)
    # Functions that go, and whose memory others use again.
    made = (made + 1) % 50
    eval("->(n) { n -= 1 while n > 0 }", nil, "/made-#{made}", made + 1).call(500)
  end
end

def k_child(seconds) = k_main(seconds)
def k_thread(seconds) = k_main(seconds)

seconds = ARGV[0].to_f
case ARGV[1]
when "fork"
  Process.wait(fork { k_child(seconds) })
when "spawn"
  system("ruby", __FILE__, ARGV[0])
when "threads"
  3.times.map { Thread.new { k_thread(seconds / 3) } }.each(&:join)
else
  k_main(seconds)
end
puts "done"
