/**
 * `npm run test:package`: packs the package, and installs it as a user does, on Node.js 20, 22, 24 and 26
 * with npm 10, 11 and 12: globally, in a folder without the optional packages, by npx, and in a fresh clone.
 * Each runs the demonstration, and the global one the example of the main job. Compilers are only on the path
 * of Node.js 20. Prints times, sizes and counts of packages, and exits with 1 if anything failed. `--node 24`
 * runs one release, `--no-clone` leaves out the clones.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { execa } from 'execa'
import { bring, countPackages, type Toolchain } from './_node.ts'
import { pack, root } from './_package.ts'

const { values } = parseArgs({
  options: { node: { type: 'string', multiple: true }, clone: { type: 'boolean', default: true } },
  allowNegative: true,
})
const pairs = [
  { node: 20, npm: 10 },
  { node: 22, npm: 10 },
  { node: 22, npm: 11 },
  { node: 24, npm: 11 },
  { node: 26, npm: 12 },
].filter(({ node }) => values.node === undefined || values.node.includes(String(node)))

const folder = mkdtempSync(join(tmpdir(), 'identity-agent-package-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

type Row = Record<string, string | number>

/** Runs a program to its end and returns seconds. @throws with its output when it fails */
async function timed(
  program: string,
  args: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<number> {
  const start = performance.now()
  const { exitCode, all } = await execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    all: true,
    stdin: 'ignore',
  })
  if (exitCode !== 0)
    throw new Error(`${program} ${args.join(' ')} in ${cwd} ended with ${exitCode}:\n${all.slice(-3_000)}`)
  return Math.round((performance.now() - start) / 100) / 10
}

async function megabytes(path: string): Promise<number> {
  return Number((await execa('du', ['-sm', path])).stdout.split('\t')[0])
}

async function tryAll(file: string, { env, compiles, ...versions }: Toolchain): Promise<Row> {
  const row: Row = { Node: versions.node, npm: versions.npm, load: Math.round(loadavg()[0]!) }
  const place = (name: string) => {
    const path = join(env['HOME']!, name)
    mkdirSync(path)
    return path
  }
  const prefix = place('prefix')
  row['npm i -g, s'] = await timed('npm', ['i', '-g', file, '--prefix', prefix], prefix, env)
  const installed = join(prefix, 'lib/node_modules/identity-agent')
  row['packages'] = countPackages(join(installed, 'node_modules'))
  row['MB'] = await megabytes(prefix)
  const empty = place('empty')
  const onPath = { ...env, PATH: `${join(prefix, 'bin')}:${env['PATH']}` }
  row['demo, s'] = await timed('agent', ['demo'], empty, onPath)
  row['main job, s'] = await timed('bash', [join(installed, 'docs/examples/main-job.sh')], empty, onPath)

  const local = place('local')
  writeFileSync(join(local, 'package.json'), '{}')
  // Each installation on Node.js 20 compiles SQLite: there, only the global one and the clone do.
  await timed('npm', ['i', file, '--omit=optional', ...(compiles ? ['--ignore-scripts'] : [])], local, env)
  const own = 'node_modules/.sqlite-node20'
  if (compiles)
    cpSync(join(installed, own), join(local, 'node_modules/identity-agent', own), { recursive: true })
  row['packages without optional'] = countPackages(join(local, 'node_modules'))
  row['MB without optional'] = await megabytes(local)
  await timed('npx', ['--no', '--', 'identity-agent', 'demo'], local, env)
  if (!compiles) row['npx demo, s'] = await timed('npx', ['--yes', `file:${file}`, 'demo'], empty, env)
  if (values.clone) {
    const clone = join(env['HOME']!, 'clone')
    await execa('git', ['clone', '--quiet', root, clone])
    row['npm ci of a clone, s'] = await timed('npm', ['ci'], clone, env)
    await timed('npm', ['run', 'demo'], clone, env)
  }
  return row
}

const { filename, size, unpackedSize, files } = await pack(folder)
console.log(
  `${filename}: ${files.length} files, ${(size / 1e6).toFixed(1)} MB packed, ${(unpackedSize / 1e6).toFixed(1)} MB unpacked`,
)
const rows: Row[] = []
for (const { node, npm } of pairs) {
  try {
    rows.push(await tryAll(join(folder, filename), await bring(folder, node, npm, node < 22)))
  } catch (error) {
    console.error(`Node.js ${node} with npm ${npm}: ${String(error)}`)
    process.exitCode = 1
  }
}
console.table(rows)
