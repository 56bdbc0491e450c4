/** Part of `npm run docs`: records the examples of the API document, which are in the package and not in git. */
import { writeFileSync } from 'node:fs'
import { record } from './_record.ts'

const file = new URL('../../../dist/examples.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(await record(), null, 1)}\n`)
process.stdout.write('dist/examples.json\n')
