/** Runs the `sh` and `js` blocks of a page in one bash, as a reader pastes them. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect } from 'vitest'
import { bin, newUser } from '../commands/_cli.ts'
import { freePorts } from '../support/free-port.ts'
import { read, readBlocks, type Block } from '../support/pages.ts'
import { prepare, type Shared } from './_prepared.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const preamble = readFileSync(new URL('_preamble.sh', import.meta.url), 'utf8')
const isRun = ({ language, notRun, file }: Block) =>
  notRun === undefined && file === undefined && ['sh', 'js', 'run'].includes(language)

/** How long a page may take. */
export const patienceMs = 200_000

/** Whether a page has a block to run. */
export const hasBlocks = (page: string): boolean => readBlocks(read(page)).blocks.some(isRun)

/** Whether a page starts with a database of PostgreSQL. */
export const needsPostgres = (page: string): boolean => readBlocks(read(page)).startsWith === 'PostgreSQL'

/**
 * Runs a page in a new HOME, which is its working directory. bash stops at the first failure. Free ports
 * replace those of daemons (8085, 8090) and receivers (3000). Pages with a prepared state also have the files
 * of docs/how-to/prepare.md. The agent of the prepared states is `shared`. `change` edits the page first.
 */
export async function runPage(
  page: string,
  shared: () => Promise<Shared>,
  change: (text: string) => string = (text) => text,
): Promise<void> {
  const { blocks, startsWith } = readBlocks(change(read(page)))
  using user = newUser()
  const { folder } = user
  const configDir = join(folder, '.config', 'identity-agent')
  mkdirSync(join(folder, 'bin'))
  symlinkSync(bin, join(folder, 'bin', 'agent'))
  if (startsWith !== 'nothing') cpSync(join(root, 'dist/client.js'), join(folder, 'agent-client.mjs'))
  const common = startsWith === 'nothing' ? [] : readBlocks(read('docs/how-to/prepare.md')).blocks
  linkPackages(folder, [...common, ...blocks])
  for (const { file, text } of [...common, ...blocks])
    if (file !== undefined) writeFileSync(join(folder, file), text)
  const prepared = startsWith === 'nothing' ? {} : await prepare(await shared(), startsWith, configDir)
  const ports = (await freePorts(3)).map(String)
  const commands = blocks.filter(isRun).map(({ line, language, text }) => {
    const code = language === 'js' ? scriptLine(folder, line, text) : text
    // The status of a block is that of its last command, also of a list such as `npm ci && npm test`.
    return `echo "== ${page}:${line}" >&2\n${code}\n[ $? = 0 ]`
  })
  const shell = execa('bash', ['-c', toScript(commands, ports)], {
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      HOME: folder,
      TMPDIR: folder,
      NO_COLOR: '1',
      LANG: 'C.UTF-8',
      // As on Linux, also on systems where the default differs.
      AGENT_CONFIG_DIR: configDir,
      AGENT_HTTP_PORT: ports[0]!,
      AGENT_DIDCOMM_PORT: ports[1]!,
      PORT: ports[2]!,
      ...prepared,
    },
    extendEnv: false,
    cwd: folder,
    reject: false,
    all: true,
    stdin: 'ignore',
    // A process group of its own: servers that the page starts end with it.
    detached: true,
  })
  const end = () => tryKill(-shell.pid!)
  const timer = setTimeout(() => {
    end()
    // The script could not stop them.
    for (const pid of daemonsOf(configDir)) tryKill(pid)
  }, patienceMs)
  shell.once('exit', end)
  const { exitCode, all } = await shell
  clearTimeout(timer)
  // The output of the block that failed.
  expect({ exitCode, all: exitCode === 0 ? '' : all.slice(Math.max(all.lastIndexOf('\n== '), 0)) }).toEqual({
    exitCode: 0,
    all: '',
  })
}

function toScript(commands: string[], [http = '', didcomm = '', receiver = '']: string[]): string {
  const text = commands
    .join('\n')
    .replaceAll('127.0.0.1:8085', `127.0.0.1:${http}`)
    .replaceAll('127.0.0.1:8090', `127.0.0.1:${didcomm}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${receiver}`)
  return `${preamble}\n${text}`
}

/** Writes a program into the working directory of the page, and returns the line that runs it. */
function scriptLine(folder: string, line: number, text: string): string {
  writeFileSync(join(folder, `block-${line}.mjs`), text)
  return `node block-${line}.mjs`
}

/** Makes the packages that programs import available, and this one under its name. */
function linkPackages(folder: string, blocks: readonly Block[]): void {
  const imported = blocks.flatMap(({ text }) =>
    [...text.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name]) => name!),
  )
  for (const name of new Set(imported)) {
    const path = join(folder, 'node_modules', name)
    mkdirSync(join(path, '..'), { recursive: true })
    symlinkSync(name === 'identity-agent' ? root : join(root, 'node_modules', name), path)
  }
}

/** The process ids of the daemons of a user. Profiles of daemons elsewhere have none. */
function daemonsOf(configDir: string): number[] {
  const folder = join(configDir, 'profiles')
  if (!existsSync(folder)) return []
  const profiles = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return profiles.flatMap((name) => {
    const { pid } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { pid?: number }
    return pid === undefined ? [] : [pid]
  })
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
