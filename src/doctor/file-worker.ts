/** The thread that looks through files (`files.ts`): one message for each, in their order. */
import { parentPort, workerData } from 'node:worker_threads'
import { findDamage } from '../storage/look.ts'

for (const path of workerData as string[]) parentPort!.postMessage({ path, damage: findDamage(path) })
