/** Releases of Node.js and npm in folders of their own, with a PATH that has no compiler. */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'

/** What npm, the scripts of packages and the scripts of this project run. */
const tools =
  'sh bash env cat ls mkdir mktemp mv cp rm ln chmod uname sed grep head tail seq sleep dirname basename readlink tar gzip git'.split(
    ' ',
  )

/** A release of Node.js with an npm, as an environment for processes. `compiles`: it compiles SQLite. */
export type Toolchain = { node: string; npm: string; compiles: boolean; env: Record<string, string> }

/**
 * Brings a release of Node.js and of npm from the registry into `folder`. The PATH of the returned
 * environment has them and `tools`, and with `compiles` all that the PATH of this process has.
 */
export async function bring(
  folder: string,
  node: number,
  npm: number,
  compiles: boolean,
): Promise<Toolchain> {
  const home = join(folder, `node${node}-npm${npm}`)
  const bin = join(home, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{}')
  await execa('npm', ['i', `node@${node}`, `npm@${npm}`, '--loglevel=error'], { cwd: home })
  const own = join(home, 'node_modules/node/bin/node')
  symlinkSync(own, join(bin, 'node'))
  for (const name of ['npm', 'npx']) {
    const cli = join(home, `node_modules/npm/bin/${name}-cli.js`)
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${own}" "${cli}" "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const tool of tools) {
    const { stdout } = await execa('which', [tool], { reject: false })
    if (stdout) symlinkSync(stdout, join(bin, tool))
  }
  const kept = [
    'LANG',
    'NODE_EXTRA_CA_CERTS',
    'HTTPS_PROXY',
    'https_proxy',
    'npm_config_registry',
    'npm_config_nodedir',
  ]
  const env = Object.fromEntries(
    kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
  const version = async (program: string) =>
    (await execa(program, ['--version'], { env: { PATH: bin } })).stdout
  return {
    node: await version(join(bin, 'node')),
    npm: await version(join(bin, 'npm')),
    compiles,
    env: {
      ...env,
      PATH: compiles ? `${bin}:${process.env['PATH']}` : bin,
      HOME: home,
      TMPDIR: home,
      npm_config_cache: join(folder, 'cache'),
      NO_COLOR: '1',
    },
  }
}

/** The packages below a folder of node_modules, with those inside of packages. */
export function countPackages(nodeModules: string): number {
  const names = (folder: string) => {
    try {
      return readdirSync(folder).filter((name) => !name.startsWith('.'))
    } catch {
      return []
    }
  }
  const folders = names(nodeModules).flatMap((name) =>
    name.startsWith('@') ? names(join(nodeModules, name)).map((inner) => `${name}/${inner}`) : [name],
  )
  return folders.reduce((sum, name) => sum + 1 + countPackages(join(nodeModules, name, 'node_modules')), 0)
}
