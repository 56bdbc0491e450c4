/** The README and the pages in docs agree with the code. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { commandIds } from './commands/_operations.ts'
import { decisions, generated, pages, read, readBlocks } from './support/pages.ts'
import {
  exitCodesTable,
  metricsTable,
  rememberedList,
  secretFilesList,
  variablesTable,
} from './support/tables.ts'

/** For those who change the program. */
const guides = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/decisions/README.md', ...decisions]

/**
 * The anchors of a page as GitHub makes them: headings in lower case, without punctuation, with hyphens for
 * spaces.
 */
const anchorsOf = (text: string) =>
  [...text.replaceAll(/```[^]*?```/g, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/**
 * Compares a page's table that has the first line of an expected one with it, so that a failure shows the
 * rows that differ instead of the page.
 */
function expectTable(page: string, expected: string): void {
  const text = read(page)
  const begin = text.indexOf(expected.split('\n', 1)[0]!)
  const table = text.slice(begin).split('\n\n', 1)[0]!.trimEnd()
  expect(begin < 0 ? 'no such table' : table, `the table of ${page} (+) is not that of the code (-)`).toBe(
    expected,
  )
}

test('the times of the tests are the recorded ones', () => {
  const { quick, ...rest } = z.record(z.string(), z.number()).parse(JSON.parse(read('test/times.json')))
  const all = Object.values(rest).reduce((sum, seconds) => sum + seconds, quick!)
  const stated = (command: string) =>
    Number(new RegExp(`^${command} .*: less than (\\d+) minutes`, 'm').exec(read('CONTRIBUTING.md'))![1])
  expect(stated('npm test')).toBe(Math.ceil(quick! / 60))
  expect(stated('npm run test:all')).toBe(Math.ceil(all / 60))
})

test('the table of variables matches the code', () => {
  expectTable('docs/operate/configuration.md', variablesTable())
})

test('the lists of settings match the code', () => {
  expect(read('docs/operate/configuration.md')).toContain(`names the file:\n${secretFilesList()}.\n`)
  expect(read('docs/operate/configuration.md')).toContain(`of these variables:\n${rememberedList()}.\n`)
})

test('the table of metrics matches the code', () => {
  expectTable('docs/operate/metrics.md', metricsTable())
})

test('the table of exit codes matches the code', () => {
  expect(read('docs/reference/command-line.md')).toContain(exitCodesTable())
})

test('the page about interoperability names the releases that the tests use', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
  const rows = read('docs/reference/interoperability.md').matchAll(/`([\w@/-]+)`[^|]*\| (\d\S+) \|/g)
  const named = [...rows].map((row) => row.slice(1) as [string, string])
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(([name, version]) => devDependencies[name] !== version)).toEqual([])
})

test('docs/README.md links to every page, and no link is broken', () => {
  const index = read('docs/README.md')
  for (const page of pages.filter((each) => each.startsWith('docs/') && each !== 'docs/README.md'))
    expect(index, page).toContain(`](${page.slice('docs/'.length)})`)
  expect(read('README.md')).toContain('](docs/README.md)')
  const linked = [...guides, ...pages]
  for (const page of linked)
    for (const [, target, anchor] of read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
      const url = new URL(target === '' ? '' : target!, new URL(`../${page}`, import.meta.url))
      const exists = existsSync(url) || generated.some((file) => url.pathname.endsWith(`/${file}`))
      expect(exists, `${page}: ${target}`).toBe(true)
      if (anchor) expect(anchorsOf(readFileSync(url, 'utf8')), `${page}: ${target}`).toContain(anchor)
    }
})

/** Whether the package has a file, or a folder of files. */
function isPacked(path: string): boolean {
  const { files } = JSON.parse(read('package.json')) as { files: string[] }
  if (['README.md', 'LICENSE', 'package.json'].includes(path)) return true
  return files.some((entry) => {
    const [folder, name] = entry.split('/*')
    if (name === undefined) return path === entry || path.startsWith(`${entry}/`)
    return (
      path.startsWith(`${folder}/`) && path.endsWith(name) && !path.slice(folder!.length + 1).includes('/')
    )
  })
}

test('a page of the package links to nothing that the package does not have', () => {
  const root = new URL('..', import.meta.url).pathname
  for (const page of [...guides, ...pages, ...decisions].filter(isPacked))
    for (const [, target] of read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]+)?\)/g)) {
      const path = new URL(target!, new URL(`../${page}`, import.meta.url)).pathname.slice(root.length)
      expect(isPacked(path.replace(/\/$/, '')), `${page}: ${target}`).toBe(true)
    }
})

test('the decisions are numbered without gaps, and their index lists each', () => {
  const rows = decisions.map((page, index) => {
    const [, title] = /^# \d{4}\. (.+)\n/.exec(read(page))!
    expect(read(page)).toContain(`# ${String(index + 1).padStart(4, '0')}. ${title}\n`)
    return `[${index + 1}. ${title}](${page.slice('docs/decisions/'.length)})`
  })
  const index = read('docs/decisions/README.md').matchAll(/^- (\[.+?\]\(.+?\))/gm)
  expect([...index].map(([, row]) => row!).toSorted()).toEqual(rows.toSorted())
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
  for (const page of [...pages, ...guides])
    for (const [, path] of read(page).matchAll(
      /`((?:src|daemon|cli|commands|test|bench|docs|bin)\/[\w./-]+)`/g,
    ))
      if (!generated.includes(path!))
        expect(existsSync(new URL(`../${path}`, import.meta.url)), `${page}: ${path}`).toBe(true)
})

describe('the code blocks of every page', () => {
  const blocks = pages.flatMap((page) => readBlocks(read(page)).blocks.map((block) => ({ page, ...block })))
  /**
   * `''` and `text` are output. GitHub draws `mermaid`. Of test/docs, snippets.slow.test.ts runs `sh` and
   * `js`, web-app.slow.test.ts `ts` and `tsx`.
   */
  const known = ['', 'text', 'mermaid', 'sh', 'js', 'ts', 'tsx', 'json', 'yaml', 'xml', 'run']

  test('have a language that a test reads, or say why they are not run', () => {
    const others = blocks.filter(({ language, notRun }) => !known.includes(language) && notRun === undefined)
    expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([])
    expect(blocks.length).toBeGreaterThan(50)
  })

  test('are marked as sh if they have commands', () => {
    const command = /^(sudo|docker|npm|npx|curl|agent) [a-z]/m
    const unmarked = blocks.filter(({ language, text }) => language === '' && command.test(text))
    expect(unmarked.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  test.each(blocks.filter(({ language }) => language === 'json'))('are JSON: $page:$line', ({ text }) => {
    expect(() => JSON.parse(text)).not.toThrow()
  })

  test.each(blocks.filter(({ language }) => language === 'yaml'))('are YAML: $page:$line', ({ text }) => {
    expect(parseAllDocuments(text).flatMap(({ errors }) => errors)).toEqual([])
  })

  test('are run, but for a few with a reason', () => {
    const run = blocks.filter(({ language }) => language === 'sh' || language === 'js')
    const notRun = run.filter((block) => block.notRun !== undefined)
    console.info(notRun.map((block) => `not run: ${block.page}:${block.line} ${block.notRun}`).join('\n'))
    expect(notRun.filter((block) => block.notRun!.split(' ').length < 2)).toEqual([])
    expect(notRun.length).toBeLessThan(run.length / 5)
  })
})
