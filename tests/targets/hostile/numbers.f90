! Fortran: recursion, internal procedures handed over as arguments, arrays, formatted output.

function integrate(f, from, to) result(sum)
    implicit none
    interface
        function f(x) result(y)
            real(8), intent(in) :: x
            real(8) :: y
        end function f
    end interface
    real(8), intent(in) :: from, to
    real(8) :: sum
    integer :: i

    sum = 0
    do i = 0, 99
        sum = sum + f(from + (to - from) * (i + 0.5d0) / 100) / 100
    end do
end function integrate

subroutine internal()
    implicit none
    integer :: base, i
    real(8) :: total
    real(8), external :: integrate

    total = 0
    do i = 1, 1000
        base = i
        total = total + integrate(line, 0d0, 1d0)
    end do
    print '(a,f20.6)', 'total ', total

contains

    ! Sees base, so its address is that of a trampoline.
    function line(x) result(y)
        real(8), intent(in) :: x
        real(8) :: y

        y = base * x + 1
    end function line
end subroutine internal

program numbers
    implicit none
    character(len=20) :: word

    call get_command_argument(1, word)
    select case (trim(word))
    case ('')
        print '(a)', 'recursion', 'internal', 'arrays', 'stop'
    case ('recursion')
        print '(a,i0)', 'fib ', fib(20)
    case ('internal')
        call internal()
    case ('arrays')
        call arrays()
    case ('stop')
        print '(a)', 'stops with 3'
        stop 3, quiet=.true.
    end select

contains

    recursive function fib(n) result(value)
        integer, intent(in) :: n
        integer :: value

        if (n < 2) then
            value = n
        else
            value = fib(n - 1) + fib(n - 2)
        end if
    end function fib

    subroutine arrays()
        real(8) :: a(40, 40), b(40, 40), c(40, 40)
        integer :: i, j

        do j = 1, 40
            do i = 1, 40
                a(i, j) = sin(real(i * j, 8))
                b(i, j) = merge(1d0, a(i, j), i == j)
            end do
        end do
        c = matmul(a, transpose(b))
        print '(a,3es24.15)', 'product ', sum(c), maxval(c), c(17, 23)
        print '(10f8.3)', c(1:5, 1:4)
    end subroutine arrays
end program numbers
