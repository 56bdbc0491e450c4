/** The pages that are written from the code, by the file that each is in. */
import { commandsPage } from './commands.ts'
import { jsonPage } from './json.ts'
import { manPage } from './man.ts'

export const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/commands.md': commandsPage,
  'docs/json.md': jsonPage,
  'man/agent.1': manPage,
}
