! Fortran: arrays, derived types, formatted and unformatted files.
program work
    implicit none
    integer, parameter :: n = 120
    real(8) :: a(n, n), b(n), x(n), residual
    integer :: i, j, k

    do j = 1, n
        do i = 1, n
            a(i, j) = 1d0 / (i + j - 1) + merge(2d0, 0d0, i == j)
        end do
        b(j) = sin(real(j, 8))
    end do
    x = 0
    do k = 1, 200
        do i = 1, n
            x(i) = (b(i) - dot_product(a(i, :), x) + a(i, i) * x(i)) / a(i, i)
        end do
    end do
    residual = maxval(abs(matmul(a, x) - b))
    print '(a,es12.4,a,l1)', 'x(1) ', x(1), ' converged ', residual < 1d-9
    open (10, file='numbers.bin', form='unformatted', access='stream')
    write (10) x
    close (10)
    open (11, file='numbers.txt')
    write (11, '(6f12.7)') x
    close (11)
end program work
