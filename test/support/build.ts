/**
 * Before the tests, builds the program and compiles the sources if one of them is newer. The tests run the
 * built program, and import compiled sources.
 */
import { execFileSync, type ExecFileSyncOptions } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { compilers, compileSources, folders, lastOfSources } from './sources.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The build deletes this file first and writes it last. */
const lastOfBuild = 'dist/daemon/agent.cjs.daemon.cache'

const options: ExecFileSyncOptions = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }
const writtenAt = (path: string) => statSync(resolve(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
const newestOf = (paths: readonly string[]) => Math.max(...paths.map(writtenAt))
/** The folder, whose time changes when a file is removed, and all in it. */
const filesIn = (folder: string) => [
  folder,
  ...readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
]

async function build(): Promise<void> {
  const files = ['bin', 'build', ...folders].flatMap(filesIn)
  const newest = newestOf(['package.json', ...files])
  if (newest > writtenAt(lastOfBuild)) {
    console.log('The sources are newer than the build: building.')
    execFileSync('npm', ['run', 'build', '--silent'], options)
  }
  // `npm ci` writes them. They do not follow changes of the sources.
  if (!existsSync(`${root}dist/examples.json`)) execFileSync('npm', ['run', 'docs', '--silent'], options)
  if (Math.max(newest, newestOf(compilers)) > writtenAt(lastOfSources)) await compileSources(files)
}

export default async function setup(project: TestProject): Promise<void> {
  await build()
  project.onTestsRerun(build)
}
