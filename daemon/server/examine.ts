/**
 * The process of `agent doctor` without a running daemon: examines the data folder and sends the result to its parent.
 *
 * It is a process of its own, because the command line does not load the database.
 */
import { ConfigError } from '../../src/base/config-fault.ts'
import { configure } from '../../src/base/configure.ts'
import { assertSameStore } from '../../src/base/profile.ts'
import { StartError } from '../../src/base/start-error.ts'
import { diagnoseDataFolder } from '../../src/doctor/diagnose.ts'
import type { Diagnosis } from '../../src/doctor/check.ts'

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
