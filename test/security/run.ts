/**
 * `npm run test:security -- --flips 500 --seed 1`: flips bits in wallet files. `--requests 100000` tests
 * whether response times distinguish resources of other tenants from missing ones. Prints the results, and
 * exits with 1 on a wrong answer, or if |t| is 4.5 or more.
 */
import { parseArgs } from 'node:util'
import { flipBits } from './_flips.ts'
import { measureTimes } from './_timing.ts'

const text = (value: string) => ({ type: 'string' as const, default: value })
const { values } = parseArgs({ options: { flips: text('0'), requests: text('0'), seed: text('1') } })
const [flips, requests, seed] = [Number(values.flips), Number(values.requests), Number(values.seed)]

let isWrong = false
if (flips > 0) {
  const { wrong, counts, starts, named } = await flipBits({ flips, seed })
  console.table(counts)
  console.log(
    `${starts} starts with such a file, ${named} named by the doctor before; wrong: ${wrong.length}`,
  )
  for (const sentence of wrong) console.log(sentence)
  isWrong ||= wrong.length > 0
}
if (requests > 0) {
  const times = await measureTimes({ requests, seed })
  console.table(times)
  isWrong ||= Object.values(times).some(({ t }) => !(Math.abs(t) < 4.5))
}
process.exit(isWrong ? 1 : 0)
