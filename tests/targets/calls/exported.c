/* A program that is all in a library, whose exported functions call one another by name. */
int paths(void);

int main(void)
{
	return paths();
}
