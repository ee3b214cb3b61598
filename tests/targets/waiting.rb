# waiting.rb ROUNDS: a thread of its own waits in two functions, and prints how long each has, in ns.

def naps = sleep(0.02)
def reads(io) = io.gets

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

def rounds(n, ours)
  took = {"naps" => 0, "reads" => 0}
  n.times do
    start = now
    naps
    took["naps"] += now - start
  end
  n.times do
    ours.puts "word"
    start = now
    reads(ours)
    took["reads"] += now - start
  end
  took.each { |name, ns| puts "#{name} #{ns}" }
end

require "socket"
ours, theirs = UNIXSocket.pair
child = fork do
  ours.close
  while theirs.gets
    sleep 0.02
    theirs.puts "word"
  end
end
theirs.close
Thread.new { rounds(ARGV[0].to_i, ours) }.join
ours.close
Process.wait(child)
