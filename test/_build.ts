/**
 * Before the tests, builds the program and compiles the sources if one of them is newer. The tests run the built program, and import
 * compiled sources.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { compileSources, lastOfSources } from './_sources.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = ['bin', 'cli', 'commands', 'daemon', 'library', 'src']

/** The build deletes this file first and writes it last. */
const lastOfBuild = 'dist/daemon/agent.cjs.daemon.cache'

const writtenAt = (path: string) => statSync(resolve(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
const filesIn = (folder: string) => [
  folder,
  ...readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
]
const isOlderThanSources = (path: string) =>
  Math.max(...['package.json', ...sources.flatMap(filesIn)].map(writtenAt)) > writtenAt(path)

async function build(): Promise<void> {
  if (isOlderThanSources(lastOfBuild)) {
    console.log('The sources are newer than the build: building.')
    execFileSync('npm', ['run', 'build', '--silent'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  if (isOlderThanSources(lastOfSources)) await compileSources()
}

export default async function setup(project: TestProject): Promise<void> {
  await build()
  project.onTestsRerun(build)
}
