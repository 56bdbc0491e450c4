/** The program of a process that makes one key and ends (`key-maker.ts`). */
import { generateDefinitionKeys } from './keys.ts'

// Whoever asked is gone.
process.once('disconnect', () => process.exit())
process.once('message', (attrNames: string[]) => {
  process.send!(generateDefinitionKeys(attrNames), () => process.disconnect())
})
