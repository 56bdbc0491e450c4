/**
 * `npm run test:security -- --flips 500 --seed 1`: bits change in wallet files. Prints what came of it, and exits with 1 when an answer was
 * wrong.
 */
import { parseArgs } from 'node:util'
import { flipBits } from './_flips.ts'

const { values } = parseArgs({ options: { flips: { type: 'string', default: '0' }, seed: { type: 'string', default: '1' } } })

let failures = 0
if (Number(values.flips) > 0) {
  const { wrong, counts, starts, named } = await flipBits({ flips: Number(values.flips), seed: Number(values.seed) })
  console.table(counts)
  console.log(`${starts} starts with such a file, ${named} named by the doctor before; wrong: ${wrong.length}`)
  for (const sentence of wrong) console.log(sentence)
  failures += wrong.length
}
process.exit(failures > 0 ? 1 : 0)
