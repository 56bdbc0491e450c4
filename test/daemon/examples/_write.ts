/** `npm run examples`: records the examples of the API document with the current code. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { examplesFile, record } from './_record.ts'

const options = { ...(await resolveConfig(fileURLToPath(examplesFile))), parser: 'json' }
writeFileSync(examplesFile, await format(JSON.stringify(await record()), options))
