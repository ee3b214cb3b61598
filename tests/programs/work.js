// JavaScript: closures, promises, exceptions, regular expressions, crypto, zlib, worker threads.
const crypto = require('crypto'), zlib = require('zlib');
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');
const fib = n => (n < 2 ? n : fib(n - 1) + fib(n - 2));
if (!isMainThread) {
  parentPort.postMessage(fib(workerData));
} else {
  let failed = 0;
  for (let i = 0; i < 5000; i++) {
    try {
      if (i % 3 === 0) throw new Error('no ' + i);
      null.x;
    } catch (error) {
      failed += error instanceof TypeError ? 1 : 2;
    }
  }
  const words = Array.from({length: 20000}, (_, i) => 'word' + ((i * 7919) % 997));
  const text = words.join(' ').replace(/word(\d)/g, 'w$1');
  const hash = crypto.createHash('sha256').update(text).digest('hex');
  const packed = zlib.gunzipSync(zlib.gzipSync(text)).length;
  console.log(failed, fib(24), hash, packed, words.sort()[100], JSON.stringify({a: [1, {b: 2}]}));
  const run = n => new Promise((done, fail) =>
    new Worker(__filename, {workerData: n}).on('message', done).on('error', fail));
  Promise.all([15, 16, 17].map(run)).then(all => console.log(all));
  setTimeout(() => console.log([..."generators"].map(c => c.charCodeAt(0)).reduce((a, b) => a + b)), 1);
}
