/*
 * Names are foreign text. Here they become safe to look at, and fit into little room: what says
 * least goes first, and a function's own name stays (src/format/shorten.c does so in a terminal).
 */

/** C0, C1, DEL, separators, bidirectional and other invisible format characters. */
const CONTROLS =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** @name with its controls written out, as \x1b or \u202e. */
export function shown(name: string): string {
	return name.replace(CONTROLS, (c) => {
		const code = c.charCodeAt(0);
		return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
	});
}

/** Tips are read, not searched. */
const TIP_MAX = 4000;

/** Lines of a tip: names and whatever else a program may have called so. */
export function tipOf(...lines: string[]): string {
	return lines.filter(Boolean).map((line) => shown(line.length > TIP_MAX ? `${line.slice(0, TIP_MAX)}…` : line)).join("\n");
}

const OPEN = "<([{";
const CLOSE = ">)]}";

/** The end of the bracket that opens at @at, behind it. */
function bracketEnd(s: string, at: number): number {
	let depth = 0;
	for (; at < s.length; at++) {
		if (OPEN.includes(s[at]!)) depth++;
		else if (CLOSE.includes(s[at]!) && !(s[at] === ">" && (s[at - 1] === "-" || s[at - 1] === "="))) {
			if (--depth === 0) return at + 1;
		}
	}
	return s.length;
}

/** Where the signs of "operator<" at @at end; @at if none are there. */
function operatorEnd(s: string, at: number): number {
	if (!s.startsWith("operator", at) || /[A-Za-z0-9_]/.test(s[at - 1] ?? "")) return at;
	const signs = /^operator(\(\)|\[\]|[<>=-]+)/.exec(s.slice(at, at + 16));
	return signs ? at + signs[0].length : at;
}

interface Parts {
	/** Where each scope and the own name begin. */
	scopes: number[];
	/** Behind a return type. */
	scope: number;
	/** Of the bracket before the parameters; the end without any. */
	args: number;
	/** Where the own name begins, behind its scopes. */
	own: number;
}

/** Finds the parts of one function's name. Any text will do. */
function parseName(s: string): Parts {
	const parts: Parts = { scopes: [], scope: 0, args: s.length, own: 0 };
	for (let at = 0; at < s.length; at++) {
		const signs = operatorEnd(s, at);
		if (signs > at) {
			at = signs - 1;
			continue;
		}
		const c = s[at]!;
		if (c === "(" && at > parts.scope && !s.startsWith("(anonymous", at) && !/[:\s]/.test(s[at - 1]!)) {
			parts.args = at;
			break;
		}
		if (OPEN.includes(c)) at = bracketEnd(s, at) - 1;
		else if (c === " " && s[at + 1] !== "[" && !s.startsWith("operator ", at - 8)) {
			parts.scope = parts.own = at + 1;
			parts.scopes = [];
		} else if (c === ":" && s[at + 1] === ":") parts.scopes.push((parts.own = ++at + 1));
		else if (c === "." && at > parts.scope && /[A-Z`<]/.test(s[at + 1] ?? "")) parts.scopes.push((parts.own = at + 1));
	}
	return parts.scope >= parts.args ? { scopes: [], scope: 0, args: s.length, own: 0 } : parts;
}

/** @s with an ellipsis in each outermost bracket, which also keeps what is within short. */
function emptied(s: string): string {
	let out = "";
	for (let at = 0; at < s.length; at++) {
		const signs = operatorEnd(s, at);
		const c = s[at]!;
		if (signs > at) {
			out += s.slice(at, signs);
			at = signs - 1;
		} else if (c === "<" || c === "(") {
			const end = bracketEnd(s, at);
			out += at === 0 || end - at < 4 ? s.slice(at, Math.min(end, at + 40)) : c + "…" + s[end - 1];
			at = end - 1;
		} else out += c;
	}
	return out;
}

/** Names shorter than this are read from their beginning. */
const MIDDLE_LEAST = 20;

function middle(s: string, columns: number): string {
	if (s.length <= columns) return s;
	if (columns < MIDDLE_LEAST) return s.slice(0, Math.max(1, columns - 1)) + "…";
	const half = Math.max(1, Math.floor((columns - 1) / 2));
	return s.slice(0, Math.max(1, columns - 1 - half)) + "…" + s.slice(s.length - half);
}

/** One function's name in at most @columns characters. */
function shortenOne(name: string, columns: number): string {
	const { scopes, scope, args, own } = parseName(name);
	const tries = [
		() => name.slice(scope),
		() => name.slice(scope, args) + (args < name.length ? "(…)" : ""),
		() => emptied(name.slice(scope, args)),
		...scopes.map((from) => () => "…" + emptied(name.slice(from, args))),
		() => emptied(name.slice(own, args)),
		() => emptied(name.slice(own, args)).replace(/<…>$/, ""),
	];
	let best = name;
	for (const attempt of tries) {
		best = attempt();
		if (best.length <= columns) return best;
	}
	return middle(best, columns);
}

/** The links of a chain "a > b"; brackets of templates are none: "A<B<int> > C" is one. */
function chain(s: string): string[] {
	const links: string[] = [];
	let from = 0;
	for (let at = 0; at < s.length; at++) {
		const signs = operatorEnd(s, at);
		if (signs > at) at = signs - 1;
		else if (OPEN.includes(s[at]!)) at = bracketEnd(s, at) - 1;
		else if (s.startsWith(" > ", at)) {
			links.push(s.slice(from, at));
			from = at += 3;
			at--;
		}
	}
	return [...links, s.slice(from)];
}

/** @name, safe and in at most @columns characters. Chains of folded calls, "a > b", keep their ends. */
export function shorten(name: string, columns: number): string {
	const safe = shown(name.length > 20000 ? name.slice(0, 20000) : name);
	if (safe.length <= columns) return safe;
	const links = chain(safe);
	if (links.length === 1) return shortenOne(safe, columns);
	const each = Math.floor((columns - 7) / 2);
	const first = shortenOne(links[0]!, each);
	const last = shortenOne(links[links.length - 1]!, columns - first.length - (links.length > 2 ? 7 : 3));
	return middle(links.length > 2 ? `${first} > … > ${last}` : `${first} > ${last}`, columns);
}

/** @text cut where @wanted begins and ends: every second part is it. Case is ignored. */
export function split(text: string, wanted: string): string[] {
	return wanted ? text.split(new RegExp(`(${wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})`, "iu")) : [text];
}

/** The last part of a path that is worth its room. */
export function fileName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** @path in at most @columns characters, without its first folders if it is longer. */
export function shortenPath(path: string, columns: number): string {
	const safe = shown(path);
	if (safe.length <= columns) return safe;
	for (let at = safe.indexOf("/"); at >= 0; at = safe.indexOf("/", at + 1))
		if (safe.length - at < columns) return "…" + safe.slice(at);
	return middle(safe, columns);
}
