/** `npm run docs`: writes the pages that say what the code says. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pages } from './pages.ts'

for (const [file, page] of Object.entries(pages)) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, await page())
  process.stdout.write(`${file}\n`)
}
