/**
 * `npm run fixtures -- <number>`: writes a data folder of the current release. Folders of earlier releases
 * never change.
 */
import { pack } from './_folder.ts'

await pack(process.argv[2]!)
