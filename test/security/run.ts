/**
 * `npm run test:security -- --flips 500 --seed 1`: bits change in wallet files. `--requests 100000`: whether the time of an answer tells what
 * is somebody's from what is not there. Prints what came of it, and exits with 1 when an answer was wrong, or |t| is 4.5 or more.
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
