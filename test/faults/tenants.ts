/**
 * `npm run test:tenants -- --wallets 10000 --active 1000`: many tenants in one daemon, then a flooding tenant
 * next to another. Prints the measurements, and exits with 1 when a limit is exceeded: no error, at most 200
 * open files, a page of wallets in 50 ms, and tenant B's 99th percentile under twice its quiet one.
 * `--connections` is how many the flood has.
 */
import { parseArgs } from 'node:util'
import { measureFlood, measureManyTenants, openSetup } from './_tenants.ts'

const number = (value: string) => ({ type: 'string', default: value }) as const
const { values } = parseArgs({
  options: {
    wallets: number('10000'),
    active: number('1000'),
    connections: number('64'),
    seconds: number('40'),
  },
})
const [wallets, active, connections, seconds] = [
  values.wallets,
  values.active,
  values.connections,
  values.seconds,
].map(Number) as [number, number, number, number]

await using setup = await openSetup()
const flooded = await measureFlood(setup, { connections, seconds })
console.log({ flooded, ratio: flooded.flooded.p99 / flooded.quiet.p99 })
const manyTenants = await measureManyTenants(setup, { wallets, active })
console.log({ wallets, active, manyTenants })

const wrong = [
  ...Object.entries(manyTenants.errors).map(([status, count]) => `${count} answers were ${status}`),
  ...(manyTenants.files > 200 ? [`${manyTenants.files} files were open`] : []),
  ...(manyTenants.pageP99 > 50 ? [`a page of wallets took ${manyTenants.pageP99.toFixed(1)} ms`] : []),
  ...(flooded.flooded.p99 >= 2 * flooded.quiet.p99
    ? ['tenant B waited for more than twice as long during the flood']
    : []),
]
for (const sentence of wrong) console.error(sentence)
process.exitCode = wrong.length === 0 ? 0 : 1
