// Go: goroutines, panics, maps, a growing stack.
package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func deep(n int) (sum int, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("recovered: %v", problem)
		}
	}()
	if n == 0 {
		var none []int
		return none[n], nil
	}
	sum, err = deep(n - 1)
	return sum + 1, err
}

func main() {
	var group sync.WaitGroup
	results := make([]int, 50)
	for i := range results {
		group.Add(1)
		go func(i int) { defer group.Done(); results[i] = fib(10 + i%8) }(i)
	}
	group.Wait()
	sum, err := deep(10000)
	words := map[string]int{}
	for i := 0; i < 20000; i++ {
		words[fmt.Sprintf("word%d", i*7919%997)]++
	}
	var keys []string
	for key := range words {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	fmt.Println(results[7], sum, err, len(keys), strings.Join(keys[:5], " "))
}
