/** The thread that looks through files (`files.ts`): one message for each, in their order. */
import { parentPort, workerData } from 'node:worker_threads'
import { findDamage, type LookAt } from '../storage/look.ts'

const { paths, ...how } = workerData as { paths: string[] } & LookAt
for (const path of paths) parentPort!.postMessage({ path, damage: await findDamage(path, how) })
