"""Distribution programs with real work each, for comparing plain and instrumented runs.

A program is a line of shell that does the work in a fresh folder, and one that prepares the folder
(once, not instrumented). The work must print the same and leave the same files on every run: times,
process ids and random names are switched off by options, or their files ignored. $P is
tests/programs/ (inputs), "in KIND SIZE" there makes data.

A command without shell words is run directly, any other by `sh -c`, and is then a few programs.
"""
import shlex


class Program:
    def __init__(self, name, needs, work, setup="", ignore=(), is_quick=False, env=None, user=None):
        self.name, self.needs, self.work, self.setup = name, needs, work, setup
        self.ignore, self.is_quick, self.env, self.user = ignore, is_quick, env or {}, user

    def command(self):
        if any(mark in self.work for mark in "|;&><$*`\n"):
            return ["sh", "-c", self.work]
        return shlex.split(self.work)


# Commands that a program needs -> the Debian package that has it. scripts/setup long installs them.
PACKAGES = {
    "7z": "p7zip-full", "as": "binutils", "bison": "bison", "busybox": "busybox-static",
    "clang": "clang", "clang-format": "clang-format", "cmake": "cmake", "convert": "imagemagick",
    "cpio": "cpio", "ctags": "universal-ctags", "curl": "curl", "dc": "dc", "bc": "bc",
    "dot": "graphviz", "dotnet": "dotnet-sdk", "dwz": "dwz", "ed": "ed", "emacs": "emacs-nox",
    "erl": "erlang-base", "fdfind": "fd-find", "ffmpeg": "ffmpeg", "file": "file", "flex": "flex",
    "g++": "g++", "gawk": "gawk", "gcc": "gcc", "gdb": "gdb", "gdc": "gdc", "gfortran": "gfortran",
    "git": "git", "gnatmake": "gnat", "gnuplot": "gnuplot-nox", "go": "golang-go", "gpg": "gnupg",
    "groff": "groff-base", "gs": "ghostscript", "guile": "guile-3.0", "java": "default-jdk-headless",
    "jq": "jq", "ld.lld": "lld", "lua5.4": "lua5.4", "luajit": "luajit", "lz4": "lz4", "m4": "m4",
    "make": "make", "mawk": "mawk", "meson": "meson", "nasm": "nasm", "nginx": "nginx-light",
    "ninja": "ninja-build", "node": "nodejs", "ocaml": "ocaml", "ocamlopt": "ocaml",
    "openssl": "openssl", "patch": "patch", "pdftotext": "poppler-utils", "perl": "perl",
    "php": "php-cli", "postgres": "postgresql", "python3": "python3", "redis-server": "redis-server",
    "rg": "ripgrep", "rsync": "rsync", "ruby": "ruby", "rustc": "rustc", "sbcl": "sbcl",
    "shellcheck": "shellcheck", "sox": "sox", "sqlite3": "sqlite3", "ssh-keygen": "openssh-client",
    "strace": "strace", "tclsh": "tcl", "tidy": "tidy", "unzip": "unzip", "vim": "vim",
    "xmllint": "libxml2-utils", "xsltproc": "xsltproc", "xz": "xz-utils", "yasm": "yasm",
    "zip": "zip", "zsh": "zsh", "zstd": "zstd", "pigz": "pigz", "gprof": "binutils",
}
TEXT = "$P/make-input text 20000 >text"
TREE = "mkdir -p tree/a/b tree/c; for i in 1 2 3 4 5; do $P/make-input text 200 >tree/a/$i; " \
       "cp $P/work.c tree/a/b/$i.c; done; ln -s a/1 tree/link; touch -d @1600000000 tree/a/*"
PROJECT = """
for i in 1 2 3 4 5 6; do
    echo "int f$(($i % 6 + 1))(int); int f$i(int); int f$i(int x) { return x > 0 ? f$(($i % 6 + 1))(x - $i) + x % $i : $i; }" >f$i.c
done
printf '#include <stdio.h>\nint f1(int); int main(void) { printf("%%d", f1(1000)); return 0; }' >main.c
"""
CC1 = "$(gcc -print-prog-name=%s)"


def quick(name, needs, work, setup="", **options):
    """A program that scripts/setup check installs anyway, or that every Debian has."""
    return Program(name, needs, work, setup, is_quick=True, **options)


PROGRAMS = [
    # interpreters
    Program("lua", "lua5.4", "lua5.4 $P/work.lua"),
    Program("luajit", "luajit", "luajit $P/work.lua"),
    Program("gawk", "gawk", "gawk -f $P/work.awk text", TEXT),
    quick("mawk", "mawk", "mawk -f $P/work.awk text", TEXT),
    quick("perl", "perl", "perl $P/work.pl <text", TEXT),
    quick("python", "python3", "python3 $P/work.py text", TEXT),
    quick("python-tests", "python3", "python3 -m unittest -q test.test_generators test.test_exceptions"
          " 2>&1 | sed 's/ in [0-9.]*s//'"),
    Program("node", "node", "node $P/work.js"),
    Program("ruby", "ruby", "ruby -W0 $P/work.rb text", TEXT),
    Program("php", "php", "php -n $P/work.php text", TEXT),
    Program("tcl", "tclsh", "tclsh $P/work.tcl text", TEXT),
    Program("guile", "guile", "guile --no-auto-compile $P/work.scm"),
    Program("sbcl", "sbcl", "sbcl --script $P/work.lisp"),
    Program("ocaml-toplevel", "ocaml", "ocaml work.ml", "cp $P/work.ml ."),
    Program("erlang", "erl", "erl -noshell -eval 'F = fun F(N) when N < 2 -> N; F(N) -> "
            "F(N - 1) + F(N - 2) end, L = [begin S = self(), spawn(fun() -> S ! {I, F(I)} end), "
            "receive {I, R} -> R end end || I <- lists:seq(1, 18)], io:format(\"~p~n\", [L]), halt().'"),
    Program("java", "java", "java -XX:TieredStopAtLevel=1 -cp . Work", "javac -d . $P/Work.java"),
    Program("java-c2", "java", "java -cp . Work", "javac -d . $P/Work.java"),
    Program("dotnet", "dotnet", "dotnet --version",
            env={"DOTNET_NOLOGO": "1", "DOTNET_CLI_TELEMETRY_OPTOUT": "1"}, ignore=(".*",)),
    Program("bc", "bc", "echo 'scale=400; 4*a(1); e(1); for (i = 0; i < 300; i++) s += sqrt(i); s' "
            "| bc -l"),
    Program("dc", "dc", "dc -e '2 3000 ^ p 100 k 2 v p [la1+dsa*dla200>y]sy 0sa1 lyx p'"),
    Program("m4", "m4", "m4 work.m4", """cat >work.m4 <<'END'
define(`fib', `ifelse(eval($1 < 2), 1, $1, `eval(fib(decr($1)) + fib(eval($1 - 2)))')')
define(`repeat', `ifelse($1, 0, , `$2 repeat(decr($1), `$2')')')
fib(16) repeat(200, `translit(substr(abcdef, 2, 3), a-z, A-Z)') patsubst(banana, `an', <\\&>)
END"""),

    # compressors and archives
    quick("gzip", "gzip", "gzip -9nk text", TEXT),
    Program("gunzip", "gzip", "gzip -d text.gz", TEXT + "; gzip -n text"),
    quick("bzip2", "bzip2", "bzip2 -k text", TEXT),
    Program("bunzip2", "bzip2", "bzip2 -d text.bz2", TEXT + "; bzip2 text"),
    quick("xz", "xz", "xz -k -T2 --block-size=300KiB text", TEXT),
    Program("unxz", "xz", "xz -d text.xz", TEXT + "; xz text"),
    Program("zstd", "zstd", "zstd -q -15 -T2 text", TEXT),
    Program("unzstd", "zstd", "zstd -q -d text.zst", TEXT + "; zstd -q --rm text"),
    Program("lz4", "lz4", "lz4 -q -9 text text.lz4", TEXT),
    Program("pigz", "pigz", "pigz -9nk -p 3 text", TEXT),
    quick("tar", "tar", "tar --sort=name --mtime=@0 --owner=0 --group=0 -czf tree.tgz tree", TREE),
    Program("untar", "tar", "tar -xpf tree.tar", TREE + "; tar -cf tree.tar tree; rm -r tree"),
    Program("cpio", "cpio", "find tree -type f | sort | cpio --quiet -o --reproducible >tree.cpio",
            TREE),
    Program("zip", "zip", "zip -q -X -r tree.zip tree", TREE),
    Program("unzip", "unzip", "unzip -q tree.zip", TREE + "; zip -q -r tree.zip tree; rm -r tree"),
    Program("7z", "7z", "7z a -bso0 -bsp0 -mtm=off -mmt=2 text.7z text", TEXT),

    # compilers and what stands around them
    quick("cc1", "gcc", CC1 % "cc1" + " -quiet -O2 work.i -o work.s", "gcc -E -P $P/work.c -o work.i"),
    Program("cc1-O0", "gcc", CC1 % "cc1" + " -quiet -g work.i -o work.s",
          "gcc -E -P $P/work.c -o work.i"),
    Program("cc1plus", "g++",
            CC1 % "cc1plus" + " -quiet -std=c++17 -O1 -fpreprocessed work.ii -o work.s",
            "g++ -std=c++17 -E $P/work.cpp -o work.ii"),
    quick("gcc", "gcc", "gcc -O1 $P/work.c -o work -lm"),
    Program("gcc-lto", "gcc", "gcc -O2 -flto=1 -frandom-seed=1 $P/work.c -o work -lm"),
    quick("gcc-made", "gcc", "./work", "gcc -O2 $P/work.c -o work -lm"),
    quick("g++-made", "g++", "./work", "g++ -std=c++17 -O2 $P/work.cpp -o work"),
    Program("clang", "clang", "clang -O2 -c $P/work.c -o work.o"),
    Program("clang++", "clang", "clang++ -std=c++17 -O1 -c $P/work.cpp -o work.o"),
    quick("clang-format", "clang-format", "clang-format --style=LLVM $P/work.cpp"),
    Program("lld", "ld.lld", "ld.lld -r -o all.o work.o more.o --threads=2",
            "gcc -O1 -g -c $P/work.c -o work.o; gcc -O1 -g -Dmain=other -c $P/work.c -o more.o"),
    quick("ld", "gcc", "ld -r -o all.o work.o more.o",
          "gcc -O1 -g -c $P/work.c -o work.o; gcc -O1 -g -Dmain=other -c $P/work.c -o more.o"),
    quick("as", "as", "as work.s -o work.o", "gcc -O2 -g -S $P/work.c -o work.s"),
    quick("objdump", "as", "objdump -dSr work.o", "gcc -O2 -g -c $P/work.c -o work.o"),
    quick("readelf", "readelf", "readelf -aW --debug-dump=frames work",
          "gcc -O2 -g $P/work.c -o work -lm"),
    quick("strip", "as", "strip -o stripped work", "gcc -O2 -g $P/work.c -o work -lm"),
    Program("dwz", "dwz", "dwz work.o -o small.o", "gcc -O2 -g $P/work.c -o work.o -lm"),
    quick("gprof", "gprof", "./work 100000 >out && gprof -bq work gmon.out | "
          "grep -oE '[0-9]+/[0-9]+ +(parse|poly)_[0-9]+ ' | sort -u",
          "gcc -O0 -pg -no-pie $P/work.c -o work -lm", ignore=("gmon.out",)),
    Program("coverage", "gcc", "./work && gcov -n work-work.gcda | head -n 20",
          "cp $P/work.c .; gcc -O1 --coverage work.c -o work -lm"),
    Program("nasm", "nasm", "nasm -felf64 work.asm -o work.o", "$P/make-input assembly 3000 >work.asm"),
    Program("yasm", "yasm", "yasm -felf64 work.asm -o work.o", "$P/make-input assembly 3000 >work.asm"),
    Program("bison", "bison", "bison -d -v grammar.y", "$P/make-input grammar >grammar.y"),
    Program("flex", "flex", "flex -o scanner.c scanner.l", "$P/make-input scanner >scanner.l"),
    Program("gfortran", "gfortran", "gfortran -O2 $P/work.f90 -o work"),
    Program("gfortran-made", "gfortran", "./work", "gfortran -O2 $P/work.f90 -o work"),
    Program("gnat", "gnatmake", "gcc -gnat2012 -c work.adb -o work.o", "cp $P/work.adb ."),
    Program("gnat-made", "gnatmake", "./work", "cp $P/work.adb .; gnatmake -q -gnat2012 work.adb"),
    Program("gdc", "gdc", "gdc -O1 -c $P/work.d -o work.o"),
    Program("gdc-made", "gdc", "./work", "gdc -O2 $P/work.d -o work"),
    Program("rustc", "rustc", "rustc -O --emit obj -o panic.o $P/../targets/hostile/panic.rs"),
    Program("ocamlopt", "ocamlopt", "ocamlopt -o work work.ml", "cp $P/work.ml .",
            ignore=("work.cm?", "work.o")),
    Program("ocamlopt-made", "ocamlopt", "./work", "cp $P/work.ml .; ocamlopt -o work work.ml"),
    Program("go-made", "go", "./work", "cp $P/work.go .; GOCACHE=$PWD/c go build -ldflags "
            "-linkmode=external -o work work.go; chmod -R u+w c; rm -r c",
            env={"GOMAXPROCS": "2"}),
    Program("make", "make", "make -s -j2 all", PROJECT + "printf 'all: prog\\n\\t./prog\\nprog: $(patsubst "
          "%%.c,%%.o,$(wildcard *.c))\\n\\t$(CC) -o $@ $^\\n' >Makefile"),
    Program("ninja", "ninja", "ninja --quiet -j2", PROJECT + """
{ echo 'rule cc'; echo '  command = gcc -c $in -o $out'; echo 'rule ld'
  echo '  command = gcc $in -o $out'
  for i in f1 f2 f3 f4 f5 f6 main; do echo "build $i.o: cc $i.c"; done
  echo 'build prog: ld f1.o f2.o f3.o f4.o f5.o f6.o main.o'; } >build.ninja""",
          ignore=(".ninja_*",)),
    Program("meson", "meson", "meson setup b >log && ninja -C b >log && b/prog", PROJECT +
          "echo \"project('p', 'c')\nexecutable('prog', 'main.c', 'f1.c', 'f2.c', 'f3.c', 'f4.c', "
          "'f5.c', 'f6.c')\" >meson.build", ignore=("b/*", "log")),
    Program("cmake", "cmake", "cmake -S . -B b >log && cmake --build b >log && b/prog", PROJECT +
            "echo 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nfile(GLOB all *.c)\n"
            "add_executable(prog ${all})' >CMakeLists.txt", ignore=("b/*", "log")),
    Program("cmake-script", "cmake", "cmake -P work.cmake", """cat >work.cmake <<'END'
foreach(i RANGE 1 4000)
  math(EXPR n "(${i} * 7919) % 997")
  list(APPEND all w${n})
  string(REGEX REPLACE "w([0-9])" "\\\\1-" last w${n})
endforeach()
list(SORT all)
list(REMOVE_DUPLICATES all)
list(LENGTH all count)
string(SHA256 hash "${all}")
message(STATUS "${count} ${last} ${hash}")
END"""),
    quick("ctags", "ctags", "ctags -f - --sort=yes --fields=+ne -R tree", TREE),
    quick("shellcheck", "shellcheck", "shellcheck -f gcc script; true",
          "printf 'for i in $(ls); do echo $i; done\\n%.0s' $(seq 50) >script; "
          "sed -i '1i#!/bin/sh' script"),
    quick("gdb", "gdb", "gdb -nx -batch -ex 'info line main' -ex 'break compare' -ex run "
          "-ex 'bt 1' -ex 'info locals' -ex 'disassemble walk' -ex kill work | sed 's/(process .*//'",
          "gcc -O1 -g $P/work.c -o work -lm"),
    Program("strace", "strace", "strace -f -o log -e trace=write sh -c 'echo a; (echo b)' && "
            "grep -o 'write.*' log", ignore=("log",)),

    # version control, databases, servers
    quick("git", "git", """git init -q -b main . && git add . && git commit -qm one &&
for i in 1 2 3 4 5; do sed -i "s/the/THE$i/;$i d" tree/a/$i && git commit -qam "change $i"; done
git log -p | tail -n 2000 | md5sum && git gc -q && git fsck --no-progress && git log --oneline --stat
git checkout -q -b other HEAD~2 && echo x >new && git add new && git commit -qm new &&
git merge -q -m merge main && git rev-parse HEAD && git blame tree/a/3 | tail -n 3""", TREE,
          ignore=(".git/index", ".git/logs/*"),
          env={f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "N"), ("EMAIL", "e@x"), ("DATE", "1600000000 +0000"))}),
    quick("sqlite", "sqlite3", "sqlite3 work.db <work.sql", "cp $P/work.sql ."),
    Program("redis", "redis-server", """redis-server --port 0 --unixsocket s --save '' >log & 
for i in $(seq 100); do [ -S s ] && break; sleep 0.05; done
for i in $(seq 300); do echo "set key$i value$i"; echo "lpush list $i"; echo "zadd z $i m$i"; done |
    redis-cli -s s | sort | uniq -c
redis-cli -s s eval "local s = 0 for i = 1, 10000 do s = s + i end return s" 0
redis-cli -s s debug digest; redis-cli -s s sort list limit 0 3; redis-cli -s s shutdown nosave; wait""",
            ignore=("log", "s")),
    Program("nginx", "nginx", """nginx -p . -c nginx.conf -e /dev/null &
for i in $(seq 100); do [ -S s ] && break; sleep 0.05; done
for i in $(seq 40); do curl -s --unix-socket s http://x/text | md5sum; done | uniq -c
curl -s --compressed --unix-socket s http://x/text | wc -c; curl -s --unix-socket s http://x/none | head -n 1
kill -QUIT $(cat pid); wait""", TEXT + """
cat >nginx.conf <<'END'
daemon off; error_log /dev/null; worker_processes 2; pid pid;
events { }
http { access_log off; gzip on; gzip_types *; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t;
  uwsgi_temp_path t; scgi_temp_path t; server { listen unix:s; root .; } }
END
sed -i "s|root .;|root $PWD;|; s|unix:s|unix:$PWD/s|" nginx.conf; chmod a+r text""", ignore=("t*", "s")),
    Program("postgres", "postgres", """
postgres -F -D data -k $PWD -h '' >log 2>&1 &
for i in $(seq 200); do pg_isready -qh $PWD && break; sleep 0.05; done
psql -qXAt -h $PWD postgres -f work.sql 2>&1; kill -INT $(head -n 1 data/postmaster.pid); wait""",
            "initdb -N -D data -A trust -U nobody >/dev/null; cat >work.sql <<'END'\n"
            "create table t as select i, 'w' || i * 7919 % 997 w from generate_series(1, 20000) i;\n"
            "create index on t (w);\nanalyze t;\n"
            "select w, count(*), sum(i) from t group by w order by 3 desc limit 5;\n"
            "do $$ begin for i in 1 .. 500 loop begin perform 1 / (i % 3); exception when "
            "division_by_zero then null; end; end loop; end $$;\n"
            "select count(*) from t a join t b using (w) where a.i < 500;\nselect 1 / 0;\nEND",
            ignore=("data/*", "log", ".s*"), user="nobody"),
    Program("curl", "curl", "curl -s file://$PWD/text | md5sum; curl -s -r 100-200 file://$PWD/text; "
            "curl -s file:///none; echo $?", TEXT),
    Program("curl-http", "curl", """python3 -u server.py &
for i in $(seq 200); do [ -s port ] && break; sleep 0.05; done; port=$(cat port)
for i in 1 2 3 4 5 6; do curl -s http://127.0.0.1:$port/text | md5sum; done
curl -sI http://127.0.0.1:$port/none | head -n 1; kill $!; wait""", TEXT + """
cat >server.py <<'END'
import http.server, os
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
open("port.new", "w").write(str(server.server_port)); os.rename("port.new", "port")
server.serve_forever()
END""", ignore=("port",)),

    # text
    quick("sed", "sed", "sed -E 's/(the) (\\w+)/\\2 \\1/g; /^A/d; y/abc/xyz/; $!N; P; D' text", TEXT),
    quick("grep", "grep", "grep -onE '(the|you) [a-z]+ (of|and)' text", TEXT),
    quick("grep-P", "grep", "grep -cP '(?i)(?<!the )\\b(other|about)\\b(?= \\w+ed|.*\\.$)' text", TEXT),
    quick("sort", "sort", "sort --parallel=2 -S 2M -T . -n numbers",
          "$P/make-input numbers 150000 >numbers"),
    Program("sort-locale", "sort", "sort -f -k2,3 -u text", TEXT, env={"LC_ALL": "C.UTF-8"}),
    quick("coreutils", "sort", "wc text; sha256sum text; md5sum text; cut -d' ' -f2-4 text | uniq -c | "
          "tail -n 3; od -An -tx1 text | tail -n 2; tr a-z A-Z <text | tail -n 1; factor "
          "18446744073709551557 600851475143; split -n 3 text part; paste partaa partab | tail -n 1; "
          "base64 text | fold -w 50 | tac | head -n 2; ls -l text | cut -c1-10; date -u -d @0; "
          "stat -c %s text; expr 3 + 4; seq 1 0.5 3; printf '%s\\n' x; env -i A=1 env; numfmt --to=si 123456",
          TEXT),
    quick("diff", "diff", "diff -u text other || test $? = 1", TEXT + "; sed 's/the/THE/;3d;100i x' text >other; "
          "sed -i '2000,$s/THE/the/' other"),
    Program("patch", "patch", "patch -s text change", TEXT +
            "; sed 's/other/OTHER/' text >other; diff -u text other >change || rm other"),
    quick("find", "find", "find tree -type f -size +1k -newermt 2001-01-01 -exec md5sum {} + | sort", TREE),
    Program("rg", "rg", "rg -n --sort path -i '(the|you) \\w+ (of|and)' tree", TREE),
    Program("fd", "fdfind", "fdfind -j 2 -H -e c . tree -x wc -l | sort", TREE),
    Program("jq", "jq", "jq -c '[group_by(.name)[] | {name: .[0].name, n: length, sum: map(.value) | add}]"
            " | sort_by(-.sum) | .[:5], (map(try error(.tags[0]) catch .) | unique)' data",
            "$P/make-input json 4000 >data"),
    Program("ed", "ed", "ed -s text <commands", TEXT + "; printf 'g/the other/s//OTHER/g\\n1,5p\\n$p\\n"
            "/about/m0\\nw out\\nq\\n' >commands"),
    Program("vim", "vim", "vim -u NONE -es -c '%s/\\(the\\) \\(\\w\\+\\)/\\2 \\1/g' -c 'g/^A/m0' -c "
            "'sort u' -c 'w! out' -c 'qa!' text", TEXT, env={"TERM": "dumb"}),
    Program("emacs", "emacs", "emacs -Q --batch text --eval '(progn (while (re-search-forward "
            "\"\\\\bthe\\\\b\" nil t) (replace-match \"THE\")) (sort-lines nil (point-min) (point-max)) "
            "(condition-case e (error \"no\") (error (princ e))) (write-file \"out\"))' 2>&1", TEXT),
    Program("groff", "groff", "groff -Tascii -man page", "zcat /usr/share/man/man1/find.1.gz >page || "
            "printf '.TH x 1\\n.SH NAME\\nx\\n%.0s' $(seq 50) >page"),
    Program("file", "file", "file -b /bin/ls work.c text", TEXT + "; cp $P/work.c ."),
    quick("rsync", "rsync", "rsync -a --checksum tree/ copy/ && rsync -ain --checksum tree/ copy/", TREE),

    # shells
    quick("bash", "bash", """bash -c 'fib() { (( $1 < 2 )) && echo $1 || echo $(( $(fib $(($1 - 1))) + $(fib $(($1 - 2))) )); }
fib 9; declare -A a; for i in {1..3000}; do a[$((i * 7919 % 97))]+=x; done; echo ${#a[@]} ${#a[7]}
trap "echo got" USR1; for i in 1 2 3; do kill -USR1 $$; done; echo {a..e}{1..3} | while read -r l; do echo "${l^^}"; done
(sleep 0.01; exit 3) & wait $!; echo $?; time_out=$(( 3 ** 20 )); printf "%x\\n" $time_out; [[ abc123 =~ ([a-z]+)([0-9]+) ]] && echo ${BASH_REMATCH[2]}'"""),
    quick("dash", "dash", """dash -c 'fib() { if [ $1 -lt 2 ]; then r=$1; else fib $(($1 - 1)); set -- $1 $r; fib $(($1 - 2)); r=$(($2 + r)); fi; }
i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); case $i in *99) s=$((s + i));; esac; done; echo $s
trap "echo bye" EXIT; (exit 4); echo $?; echo a b c | { read x y; echo "$y"; }; cat <<END
here $((6 * 7))
END'"""),
    Program("zsh", "zsh", """zsh -fc 'fib() { (( $1 < 2 )) && REPLY=$1 || { fib $(($1 - 1)); local a=$REPLY; fib $(($1 - 2)); (( REPLY += a )); } }
typeset -A a; for i in {1..5000}; do a[$((i * 7919 % 97))]=$i; done; print ${#a} ${(k)#a} ${(o)${(f)"$(print -l c b a)"}}
fail() { return 3 }; { fail } always { print done }; fail || print $?; print ${${:-abc}/b/X} $((2 ** 0.5))'"""),
    Program("busybox", "busybox", "busybox sh -c 'busybox sort text | busybox md5sum; busybox awk "
            "\"{ n += NF } END { print n }\" text'", TEXT),

    # pictures, sound, documents
    Program("ffmpeg", "ffmpeg", "ffmpeg -nostdin -v error -f lavfi -i testsrc=s=320x240:d=1 -f lavfi -i "
            "sine=d=1 -flags bitexact -fflags bitexact -threads 2 -c:v mpeg4 -c:a aac out.avi"),
    Program("ffmpeg-filter", "ffmpeg", "ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=200x200:d=1 -vf "
            "scale=100:100,hue=h=30,unsharp -flags bitexact -c:v ffv1 -f framemd5 out.md5"),
    Program("sox", "sox", "sox -R -n -r 22050 out.wav synth 1 sine 440 synth 1 square mix 220 reverb 30 "
            "gain -5 rate 16000"),
    Program("imagemagick", "convert", "convert -seed 1 -size 200x200 plasma:red-blue -blur 0x2 -rotate 30 "
            "-colorspace gray out.ppm", "convert -version | grep -q ImageMagick"),
    Program("gnuplot", "gnuplot", "gnuplot -e 'set terminal dumb; plot [-5:5] sin(x), cos(x) / x; set "
            "terminal svg; set output \"out.svg\"; set samples 500; splot x ** 2 - y ** 2'"),
    Program("dot", "dot", "dot -Tsvg $P/work.dot -o out.svg"),
    Program("neato", "dot", "neato -Tplain -Gstart=1 $P/work.dot"),
    Program("gs", "gs", "gs -q -dSAFER -dBATCH -dNOPAUSE -sDEVICE=ppmraw -r50 -sOutputFile=out%d.ppm "
            "$P/work.ps"),
    Program("pdftotext", "pdftotext", "pdftotext -layout work.pdf -",
            "gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=work.pdf $P/work.ps"),
    Program("pdftoppm", "pdftotext", "pdftoppm -r 40 work.pdf out",
            "gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=work.pdf $P/work.ps"),
    Program("xmllint", "xmllint", "xmllint --format --xpath '//item[n > 90]/name' data",
            "$P/make-input xml 4000 >data"),
    Program("xsltproc", "xsltproc", "xsltproc sheet data", "$P/make-input xml 3000 >data; cat >sheet <<'END'\n"
            "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n"
            "<xsl:output method='text'/><xsl:key name='k' match='item' use='name'/>\n"
            "<xsl:template match='/'><xsl:for-each select=\"//item[generate-id() = generate-id(key('k', name))]\">"
            "<xsl:sort select='name'/><xsl:value-of select='concat(name, \" \", count(key(\"k\", name)))'/>"
            "<xsl:text>\n</xsl:text></xsl:for-each></xsl:template></xsl:stylesheet>\nEND\n"
            "sed -i 's/count(key(\"k\", name))/sum(n)/' sheet"),
    Program("tidy", "tidy", "tidy -q -asxml --tidy-mark no page 2>&1; true", "$P/make-input html 800 >page"),

    # keys and hashes
    quick("openssl", "openssl", "openssl sha512 text && openssl enc -aes-256-cbc -K 00112233 -iv 00 -in text "
          "2>&1 | md5sum && openssl dgst -sha256 -sign key text | openssl dgst -sha256 -verify public "
          "-signature /dev/stdin text; openssl rsa -in key -check -noout; openssl prime 1000003",
          TEXT + "; openssl genrsa -out key 2048 2>&1; openssl rsa -in key -pubout -out public 2>&1"),
    Program("openssl-digests", "openssl", "openssl dgst -blake2b512 -r text", TEXT),
    Program("gpg", "gpg", "gpg --batch --no-autostart --homedir g --print-mds text", TEXT +
            "; mkdir -m 700 g", ignore=("g/*",)),
    Program("ssh-keygen", "ssh-keygen", "ssh-keygen -lf key && ssh-keygen -q -Y sign -f key -n file text "
            "&& ssh-keygen -Y check-novalidate -n file -s text.sig <text",
            TEXT + "; ssh-keygen -q -t ed25519 -N '' -f key -C x"),
]
