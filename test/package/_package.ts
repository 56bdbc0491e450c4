/** The packed file of the package, its installation into an empty folder, and what a user does with it. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import * as z from 'zod'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const Entry = z.looseObject({
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  devOptional: z.boolean().optional(),
})
export const Lock = z.object({ packages: z.record(z.string(), Entry) })
export const Manifest = z.looseObject({
  version: z.string(),
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
  engines: z.object({ node: z.string() }),
})

export const read = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'))

const Packed = z.object({
  filename: z.string(),
  integrity: z.string(),
  size: z.number(),
  unpackedSize: z.number(),
  files: z.array(z.object({ path: z.string(), size: z.number() })),
})
/** The file, its size packed and unpacked in bytes, and the files in it. */
export type Packed = z.infer<typeof Packed>

/** Packs the build into a folder. `npm pack` would build again, under the other tests, so it runs no scripts. */
export async function pack(folder: string): Promise<Packed> {
  const { stdout } = await execa(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    {
      cwd: root,
    },
  )
  return z.tuple([Packed]).parse(JSON.parse(stdout))[0]
}

/**
 * Installs the packed file of a folder there, without the optional packages and without scripts, by a lock
 * file with the entries of the clone's: so npm takes all packages from its cache, which `npm ci` of the clone
 * has filled. Returns the folder of the package.
 */
export async function installFromCache(folder: string, { filename, integrity }: Packed): Promise<string> {
  const manifest = Manifest.parse(read('package.json'))
  const own = { 'identity-agent': `file:${filename}` }
  const used = Object.entries(Lock.parse(read('package-lock.json')).packages).filter(
    ([path, { dev }]) => path !== '' && dev !== true,
  )
  const { version, dependencies, optionalDependencies, engines } = manifest
  const entry = {
    version,
    resolved: own['identity-agent'],
    integrity,
    dependencies,
    optionalDependencies,
    engines,
  }
  const bin = { agent: 'bin/agent.cjs' }
  const packages = { '': { dependencies: own }, 'node_modules/identity-agent': { ...entry, bin } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: own }))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: { ...packages, ...Object.fromEntries(used) } }),
  )
  const flags = [
    '--ignore-scripts',
    '--omit=optional',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  await execa('npm', ['ci', ...flags], { cwd: folder })
  return join(folder, 'node_modules/identity-agent')
}

/**
 * Gives an installation the SQLite that the clone has compiled for Node.js before 22.14: compiling it again
 * would take two minutes.
 */
export function reuseCompiledSqlite(folder: string): void {
  const compiled = 'node_modules/.sqlite-node20'
  if (Number(process.versions.napi) >= 10) return
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  cpSync(join(root, compiled), join(folder, compiled), { recursive: true })
}

/**
 * The main flow by commands: a daemon with two tenants who connect, issue a credential and prove it. `agent`
 * is on the path.
 */
export const mainFlow = `set -euo pipefail
agent daemon start --port 0 --didcomm-port 0
trap 'agent daemon stop' EXIT
agent tenant create alice --key-file alice.key
alice() { agent "$@" --api-key-file alice.key; }
issuer=$(agent did create --publish --wait --quiet)
alice did create
agent connection invite --label Alice >invitation.txt
alice connection accept - --wait <invitation.txt
offer=$(agent credential offer --connection Alice --issuing-did "$issuer" --claim name=Alice --wait=OfferSent --quiet)
alice credential accept "$(alice credential list --quiet)" --wait=RequestSent
agent credential issue "$offer" --wait
proof=$(agent proof request --connection Alice --trust-issuer "$issuer" --wait=RequestSent --quiet)
alice proof present "$(alice proof list --quiet)" --wait
agent proof show "$proof"`
