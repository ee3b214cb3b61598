--  Ada: tasks, exceptions, range checks, generics.
with Ada.Text_IO; use Ada.Text_IO;
with Ada.Containers.Ordered_Maps;
procedure Work is
   package Maps is new Ada.Containers.Ordered_Maps (Integer, Integer);
   Map : Maps.Map;
   Failed : Integer := 0;
   Table : array (1 .. 10) of Integer := (others => 3);
   task type Worker is
      entry Start (N : Integer);
      entry Result (R : out Integer);
   end Worker;
   function Fib (N : Integer) return Integer is
     (if N < 2 then N else Fib (N - 1) + Fib (N - 2));
   task body Worker is
      Number : Integer;
   begin
      accept Start (N : Integer) do Number := Fib (N); end Start;
      accept Result (R : out Integer) do R := Number; end Result;
   end Worker;
   Workers : array (1 .. 5) of Worker;
   Value, Sum : Integer := 0;
begin
   for I in 1 .. 3000 loop
      begin
         Table (I mod 15) := Table (I mod 15) + 1;
         Map.Include (I * 7919 mod 997, I);
      exception
         when Constraint_Error => Failed := Failed + 1;
      end;
   end loop;
   for I in Workers'Range loop Workers (I).Start (10 + I); end loop;
   for I in Workers'Range loop Workers (I).Result (Value); Sum := Sum + Value; end loop;
   Put_Line (Failed'Image & Map.Length'Image & Sum'Image & Map.Element (77)'Image & Table (3)'Image);
end Work;
