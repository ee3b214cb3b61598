/* Pictures of an exported page for the README: node test/pictures.mjs PAGE FOLDER (scripts/pictures). */
import { pathToFileURL } from "node:url";
import { Page } from "./page.mjs";

const [file, folder] = process.argv.slice(2);
const VIEWS = { "page-summary": ["view=summary", 800], "page-flame": ["view=flame", 570] };

for (const [name, [hash, height]] of Object.entries(VIEWS)) {
	const page = await Page.open(pathToFileURL(file).href, { viewport: { width: 1280, height }, colorScheme: "light" });
	await page.go(hash);
	await page.page.screenshot({ path: `${folder}/${name}.png` });
	await page.browser.close();
}
