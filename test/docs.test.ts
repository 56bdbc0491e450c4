/** The README and the pages in docs agree with the code. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandIds } from './commands/_operations.ts'
import { endpointsTable, exitCodesTable, variablesTable } from './_tables.ts'

const read = (page: string) => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')
/** `npm run docs` writes these; test/docs-pages.test.ts covers them. */
const generated = ['docs/commands.md', 'docs/json.md']
const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(new URL('../docs', import.meta.url))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`)
    .filter((file) => !generated.includes(file)),
]

test('the table of variables matches the code', () => {
  expect(read('docs/configuration.md')).toContain(variablesTable())
})

test('the table of endpoints matches the code', () => {
  expect(read('docs/api.md')).toContain(endpointsTable())
})

test('the table of exit codes matches the code', () => {
  expect(read('docs/command-line.md')).toContain(exitCodesTable())
})

test('the README links to every page in docs, and no link is broken', () => {
  for (const page of pages) {
    if (page !== 'README.md') expect(read('README.md'), page).toContain(`](${page})`)
    for (const [, target] of read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      const { pathname } = new URL(target!, new URL(`../${page}`, import.meta.url))
      const exists = existsSync(pathname) || generated.some((file) => pathname.endsWith(`/${file}`))
      expect(exists, `${page}: ${target}`).toBe(true)
    }
  }
})

test('every command in an example exists', () => {
  const names = commandIds().map((id) => id.replaceAll(':', ' '))
  const topics = new Set(names.map((name) => name.split(' ')[0]))
  const code = [
    ...pages
      .map(read)
      .join('\n')
      .matchAll(/```[^`]*```|`[^`\n]+`/g),
  ].join('\n')
  const shown = [...code.matchAll(/\bagent ([a-z-]+(?: [a-z-]+){0,2})/g)]
    .map(([, words]) => words!)
    .filter((words) => topics.has(words.split(' ')[0]))
  expect(shown.length).toBeGreaterThan(15)
  // A command with its arguments, or a topic.
  const isOne = (words: string) =>
    names.some((name) => `${words} `.startsWith(`${name} `) || `${name} `.startsWith(`${words} `))
  expect(shown.filter((words) => !isOne(words))).toEqual([])
})

test('every source file that a page names exists', () => {
  const guides = ['ARCHITECTURE.md', 'CONTRIBUTING.md']
  for (const page of [...pages, ...guides])
    for (const [, path] of read(page).matchAll(
      /`((?:src|daemon|cli|commands|test|bench|docs|bin)\/[\w./-]+)`/g,
    ))
      if (!generated.includes(path!))
        expect(existsSync(new URL(`../${path}`, import.meta.url)), `${page}: ${path}`).toBe(true)
})
