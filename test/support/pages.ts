/** The pages of the documentation, and the code blocks in them. */
import { readdirSync, readFileSync } from 'node:fs'

/** `npm run docs` writes these; test/docs-pages.test.ts covers them. */
export const generated = [
  'docs/reference/commands.md',
  'docs/reference/endpoints.md',
  'docs/reference/json.md',
  'docs/reference/settings.schema.json',
]

/** Paths from the root of the project. */
export const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(new URL('../../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('decisions/'))
    .map((file) => `docs/${file}`)
    .filter((file) => !generated.includes(file))
    .toSorted(),
]

/** The pages of docs/decisions but its index. They have no examples. */
export const decisions = readdirSync(new URL('../../docs/decisions', import.meta.url))
  .filter((file) => file !== 'README.md')
  .map((file) => `docs/decisions/${file}`)
  .toSorted()

/** The text of a file. `path` is from the root of the project. */
export const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

export type Block = {
  /** The line of the page at which the content begins. */
  line: number
  /** The word behind the opening fence. `run` for the content of a comment that begins with that word. */
  language: string
  text: string
  /** The reason in a comment `<!-- not run: reason -->` before the block. */
  notRun?: string
  /** The name in a comment `<!-- file: name -->` before the block: the reader stores the block there. */
  file?: string
}

const fence = /^( *)```(\S*)\n([^]*?)^\1```$/
const comment = /^<!--\s*(not run|run|starts with|file):?\s*([^]*?)\s*-->$/

/** The code blocks of a page in their order, and the state that they begin with, `<!-- starts with: … -->`. */
export function readBlocks(text: string): { blocks: Block[]; startsWith: string } {
  const blocks: Block[] = []
  let startsWith = 'nothing'
  let about: Pick<Block, 'notRun' | 'file'> = {}
  for (const match of text.matchAll(new RegExp(`${fence.source}|${comment.source}`, 'gm'))) {
    const [, indent, language = '', content = '', kind, words = ''] = match
    const line = text.slice(0, match.index).split('\n').length + 1
    if (kind === 'starts with') startsWith = words
    else if (kind === 'not run') about = { notRun: words }
    else if (kind === 'file') about = { file: words }
    else if (kind === 'run') blocks.push({ line, language: 'run', text: `${words}\n` })
    else {
      const unindented = content.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      blocks.push({ line, language, text: unindented, ...about })
      about = {}
    }
  }
  return { blocks, startsWith }
}
