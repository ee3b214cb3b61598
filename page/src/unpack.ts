/* The page's own data: base64, mostly compressed. */

function isGzip(bytes: Uint8Array): boolean {
	return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Newer browsers read base64 themselves, many times as fast. */
type Reader = { fromBase64?: (text: string) => Uint8Array };

function fromBase64(text: string): Uint8Array {
	const { fromBase64: read } = Uint8Array as Reader;
	if (read) return read.call(Uint8Array, text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/** The bytes of @packed, base64 or bytes, unpacked if they are a gzip file. */
export async function unpack(packed: string | Uint8Array): Promise<Uint8Array> {
	let bytes: Uint8Array;
	try {
		bytes = typeof packed === "string" ? fromBase64(packed) : packed;
	} catch {
		throw new Error("its data are no base64");
	}
	if (!isGzip(bytes)) return bytes;
	const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
	try {
		return new Uint8Array(await new Response(stream).arrayBuffer());
	} catch {
		throw new Error("its data are damaged");
	}
}
