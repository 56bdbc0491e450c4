/** Entry point of the process that generates one key (`key-maker.ts`). */
import { generateDefinitionKeys } from './keys.ts'

// A terminal sends these signals to this process too. The agent decides when it ends.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
// The agent has ended. `process.exit` would wait for the prime generation.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.once('message', async (attrNames: string[]) => process.send!(await generateDefinitionKeys(attrNames)))
