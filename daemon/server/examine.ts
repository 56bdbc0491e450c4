/**
 * The process of `agent doctor` without a running daemon: examines the data folder and sends the result to its parent.
 *
 * It is a process of its own, because the command line does not load the database.
 */
import { configure } from '../../src/base/configure.ts'
import { StartError } from '../../src/base/start-error.ts'
import { diagnoseDataFolder } from '../../src/doctor/diagnose.ts'
import type { Diagnosis } from '../../src/doctor/check.ts'

async function diagnose(): Promise<Diagnosis> {
  try {
    const { config } = await configure(process.env)
    return await diagnoseDataFolder(config, process.argv.includes('--deep'))
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return {
      checks: [
        {
          name: 'configuration',
          status: 'failed',
          detail: error.message,
          hint: 'agent config validate',
        },
      ],
    }
  }
}

process.send?.(await diagnose(), () => process.exit())
