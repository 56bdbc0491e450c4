/**
 * The headers of Node.js that SQLite is compiled with on Node.js 20: those beside the program, without the
 * network. npm has no settings here but the registry's, and the compiler is a program that notes its
 * arguments and fails: a whole compilation takes a minute (`npm run test:package`).
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { root } from './_package.ts'

const { findHeaders } = createRequire(import.meta.url)(join(root, 'bin/sqlite.cjs')) as {
  findHeaders: (program: string) => string | undefined
}
const hasHeaders = findHeaders(process.execPath) !== undefined
/** Node.js 22.14 and later compile nothing. */
const compiles = Number(process.versions['napi']) < 10

/** Runs the script of an installation in a copy of its files, with a compiler that fails. */
async function install(env: Record<string, string> = {}) {
  const folder = newFolder()
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  mkdirSync(join(folder, 'src'))
  const compiler = join(folder, 'compiler')
  writeFileSync(compiler, `#!/bin/sh\necho "$@" >> ${folder}/compiled\nexit 1\n`, { mode: 0o755 })
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, await settingsOfRegistry())
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE/i.test(name))
  const { stderr, exitCode } = await execa(process.execPath, [join(folder, 'bin/install.cjs')], {
    cwd: folder,
    extendEnv: false,
    env: {
      ...Object.fromEntries(inherited),
      HOME: folder,
      CC: compiler,
      CXX: compiler,
      npm_config_userconfig: npmrc,
      npm_config_globalconfig: join(folder, 'none'),
      ...(process.env['npm_config_cache'] && { npm_config_cache: process.env['npm_config_cache'] }),
      ...env,
    },
    reject: false,
  })
  const noted = join(folder, 'compiled')
  return { exitCode, stderr, compiled: existsSync(noted) ? readFileSync(noted, 'utf8') : '' }
}

/** The settings of npm that a machine needs to reach the registry, as lines of an npmrc. */
async function settingsOfRegistry(): Promise<string> {
  const settings = ['registry', 'cafile', 'proxy', 'https-proxy'].map(async (name) => {
    const { stdout } = await execa('npm', ['config', 'get', name], { cwd: root })
    return stdout === 'null' ? '' : `${name}=${stdout}\n`
  })
  return (await Promise.all(settings)).join('')
}

test.skipIf(!compiles || !hasHeaders)(
  'the compiler gets the headers beside the program, and no setting of npm names them',
  async () => {
    const { exitCode, compiled, stderr } = await install()
    expect(exitCode).toBe(1)
    expect({ compiled, stderr }).toMatchObject({
      compiled: expect.stringContaining(`-I${findHeaders(process.execPath)}/include/node`),
    })
    expect(stderr).toContain('SQLite was not compiled, for the reason above')
  },
)

test.skipIf(!compiles)('a setting of npm for the headers is kept, and their absence is named', async () => {
  const { exitCode, compiled, stderr } = await install({ npm_config_disturl: 'http://127.0.0.1:1' })
  expect({ exitCode, compiled }).toEqual({ exitCode: 1, compiled: expect.not.stringContaining('-I') })
  expect(stderr).toContain(
    `because the headers of Node.js ${process.version} could not be downloaded: install them to ${join(process.execPath, '../../include/node')} ` +
      '(libnode-dev on Debian), or set npm_config_nodedir',
  )
})

/** A program with headers that define a module version. */
function programWith(modules: string, ...files: string[]): string {
  const folder = newFolder()
  mkdirSync(join(folder, 'include/node'), { recursive: true })
  for (const file of files) writeFileSync(join(folder, 'include/node', file), '')
  writeFileSync(join(folder, 'include/node/node_version.h'), `#define NODE_MODULE_VERSION ${modules}\n`)
  return join(folder, 'bin/node')
}

test('headers of another Node.js, and those without node.h, are not used', () => {
  const own = process.versions.modules
  expect(findHeaders(programWith(own, 'node.h'))).toBeDefined()
  expect(findHeaders(programWith(String(Number(own) + 1), 'node.h'))).toBeUndefined()
  expect(findHeaders(programWith(own))).toBeUndefined()
  expect(findHeaders('/nowhere/bin/node')).toBeUndefined()
})
