/** Runs the story on an agent of its own. */
import { startAgent } from '../../support/agent.ts'
import { accepting, startIssuer } from '../../wallet/bearer-tokens/_issuer.ts'
import { openReceiver } from '../../support/receiver.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { toExamples, type Example } from './_recorder.ts'
import { tell } from './_story.ts'

/** The examples of each operation that the story calls, as a real agent answers them. */
export async function record(): Promise<Record<string, Example>> {
  await using issuer = await startIssuer()
  await using agent = await startAgent(accepting(issuer))
  await using webhook = await openReceiver()
  await using folder = await temporaryFolder()
  const told = await tell(agent, webhook.url, folder.path)
  return toExamples(told, {
    [agent.url]: 'http://127.0.0.1:8085',
    [agent.didcommUrl]: 'http://127.0.0.1:8090',
    [webhook.url]: 'https://acme.example/events',
    [issuer.url]: 'https://login.example',
    [folder.path]: '/var/backups',
    [agent.dataDir]: '/var/lib/identity-agent',
  })
}
