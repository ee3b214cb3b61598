# shares.rb MILLISECONDS: spends that on functions of known shares, and prints what each has taken of the thread's time,
# in ns.

def half(n)
  s = 0
  i = 0
  while i < n
    s += i * 31
    i += 1
  end
  s
end

def third(n)
  s = 0
  step(n) { |x| s += x }
  s
end

def step(n)
  n.times { |i| yield i ^ 5 }
end

class Sixth
  def spend(n)
    (n / 100).times { (0...100).map { |x| x * x } }
  end
end

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

took = {"half" => 0, "third" => 0, "spend" => 0}
sixth = Sixth.new
chance = Random.new(7)
last = now
till = last + ARGV[0].to_i * 1_000_000
while last < till
  half((60000 * chance.rand(0.1..1.9)).to_i)
  at = now
  took["half"] += at - last
  third((20000 * chance.rand(0.1..1.9)).to_i)
  last = now
  took["third"] += last - at
  sixth.spend((10000 * chance.rand(0.1..1.9)).to_i)
  at = now
  took["spend"] += at - last
  last = at
end
took.each { |name, ns| puts "#{name} #{ns}" }
