/**
 * Builds the program before the tests if a source is newer than the build. The tests run the built program.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = ['bin', 'cli', 'commands', 'daemon', 'library', 'src']

/** The build deletes this file first and writes it last. */
const lastOfBuild = 'dist/daemon/agent.cjs.daemon.cache'

const writtenAt = (path: string) => statSync(root + path, { throwIfNoEntry: false })?.mtimeMs ?? 0
const filesIn = (folder: string) => [
  folder,
  ...readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
]
const isStale = () =>
  Math.max(...['package.json', ...sources.flatMap(filesIn)].map(writtenAt)) > writtenAt(lastOfBuild)

function build(): void {
  if (!isStale()) return
  console.log('The sources are newer than the build: building.')
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

export default function setup(project: TestProject): void {
  build()
  project.onTestsRerun(build)
}
