<?php
/* waiting.php ROUNDS: waits in two functions, and prints how long each has, in ns. */

function naps() { usleep(20000); }
function reads($pipe) { return fgets($pipe); }

[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
if (!pcntl_fork()) {
    fclose($ours);
    while (fgets($theirs)) {
        usleep(20000);
        fwrite($theirs, "word\n");
    }
    exit(0);
}
fclose($theirs);
$took = ['naps' => 0, 'reads' => 0];
for ($i = 0; $i < $argv[1]; $i++) {
    $start = hrtime(true);
    naps();
    $took['naps'] += hrtime(true) - $start;
}
for ($i = 0; $i < $argv[1]; $i++) {
    fwrite($ours, "word\n");
    $start = hrtime(true);
    reads($ours);
    $took['reads'] += hrtime(true) - $start;
}
fclose($ours);
pcntl_wait($status);
foreach ($took as $name => $ns) echo "$name $ns\n";
