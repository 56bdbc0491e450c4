/** The program of a process that makes one key and ends (`key-maker.ts`). */
import { generateDefinitionKeys } from './keys.ts'

// What a terminal sends to the agent reaches this process, too; when to end is for the agent to say.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
// Whoever asked is gone. An exit would wait for the primes.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.once('message', async (attrNames: string[]) => process.send!(await generateDefinitionKeys(attrNames)))
