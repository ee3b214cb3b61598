(* OCaml: exceptions, closures, allocation that makes the collector run, functors. *)
exception Found of int
module Words = Map.Make (String)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
type tree = Leaf | Node of tree * int * tree
let rec insert x = function
  | Leaf -> Node (Leaf, x, Leaf)
  | Node (l, y, r) when x < y -> Node (insert x l, y, r)
  | Node (l, y, r) when x > y -> Node (l, y, insert x r)
  | same -> same
let rec depth = function Leaf -> 0 | Node (l, _, r) -> 1 + max (depth l) (depth r)
let find f a = try Array.iter (fun x -> if f x then raise (Found x)) a; -1 with Found x -> x
let () =
  let a = Array.init 20000 (fun i -> i * 7919 mod 20011) in
  let tree = Array.fold_left (fun t x -> insert x t) Leaf a in
  let found = ref 0 in
  for i = 1 to 3000 do found := !found + find (fun x -> x mod 100 = i mod 120) a done;
  let words = Array.fold_left (fun m x -> let k = string_of_int (x mod 97) in
    Words.add k (x + try Words.find k m with Not_found -> 0) m) Words.empty a in
  let lists = List.init 300 (fun i -> List.init i (fun j -> string_of_int (i * j))) in
  let joined = String.concat "," (List.concat lists) in
  Gc.full_major ();
  Printf.printf "%d %d %d %d %d\n" (fib 24) (depth tree) !found (Words.find "7" words) (String.length joined);
  (try ignore (List.hd []) with Failure text -> print_endline text);
  (try ignore (1 / Array.length [||]) with Division_by_zero -> print_endline "division");
  let rec deep n = if n = 0 then 0 else 1 + deep (n - 1) in
  Printf.printf "%d\n" (deep 100000)
