/** The worker thread of `files.ts`: checks files in order, and posts one message for each. */
import { parentPort, workerData } from 'node:worker_threads'
import { findDamage } from '../../foundation/storage/inspection.ts'

for (const path of workerData as string[]) parentPort!.postMessage({ path, damage: findDamage(path) })
