/**
 * The process of `agent doctor` without a running daemon: examines the data folder and sends the result to
 * its parent.
 *
 * It is a process of its own, because the command line does not load the database.
 */
import { ConfigError } from '../../src/foundation/config/fault.ts'
import { configure } from '../../src/foundation/config/configure.ts'
import { assertSameStore } from '../../src/foundation/config/profile.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { diagnoseDataFolder } from '../../src/operations/doctor/diagnose.ts'
import type { Diagnosis } from '../../src/operations/doctor/check.ts'

async function diagnose(): Promise<Diagnosis> {
  try {
    const { config } = await configure(process.env)
    assertSameStore(config)
    return await diagnoseDataFolder(config, process.argv.includes('--deep'))
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return {
      checks: [
        {
          name: 'configuration',
          status: 'failed',
          detail: error.message,
          hint: error instanceof ConfigError ? 'agent config validate' : 'agent config show',
        },
      ],
    }
  }
}

process.send?.(await diagnose(), () => process.exit())
