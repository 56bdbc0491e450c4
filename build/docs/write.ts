/**
 * `npm run docs`: writes the pages that are generated from the code. They are part of the package and not of
 * git, except for states.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandsPage } from './commands.ts'
import { endpointsPage } from './endpoints.ts'
import { jsonPage } from './json.ts'
import { manPage } from './man.ts'
import { statesPage } from './states.ts'
import { configSchema } from '../../src/foundation/config/schema.ts'

const pages = {
  'docs/reference/commands.md': await commandsPage(),
  'docs/reference/endpoints.md': endpointsPage(),
  'docs/reference/json.md': jsonPage(),
  'docs/reference/states.md': statesPage(),
  'docs/reference/settings.schema.json': `${JSON.stringify(configSchema(), null, 2)}\n`,
  'man/agent.1': manPage(),
}

for (const [file, text] of Object.entries(pages)) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  process.stdout.write(`${file}\n`)
}
