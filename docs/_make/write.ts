/** `npm run docs`: writes the pages that are generated from the code. They are part of the package and not of git. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandsPage } from './commands.ts'
import { jsonPage } from './json.ts'
import { manPage } from './man.ts'

const pages = {
  'docs/commands.md': await commandsPage(),
  'docs/json.md': jsonPage(),
  'man/agent.1': manPage(),
}

for (const [file, text] of Object.entries(pages)) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  process.stdout.write(`${file}\n`)
}
