/**
 * The mediator role of an agent. With several processes, the owner of one shard has it; the others forward to
 * that one.
 */
import { deriveSealKey } from '../foundation/seal.ts'
import { openMediator, type Mediator } from '../exchange/mediator/mediator.ts'
import { mediatorId } from '../cluster/ownership.ts'
import type { Store } from './store.ts'
import type { Environment } from '../wallet/environment.ts'

/** Undefined without `AGENT_MEDIATOR`. `closers` gets what must be closed. */
export async function openMediatorRole(
  { config, urls, resolver, http, log }: Environment,
  agentKey: Uint8Array,
  store: Store,
  closers: (() => unknown)[],
): Promise<Mediator | undefined> {
  if (!config.AGENT_MEDIATOR) return undefined
  const mediator = await openMediator({
    open: () => store.openMediator(),
    sealKey: deriveSealKey(agentKey, 'mediator'),
    url: urls.didcomm,
    config,
    resolve: resolver.document,
    http,
    log,
    isOwner: () => store.ownership.owns(mediatorId),
  })
  closers.push(() => mediator[Symbol.asyncDispose]())
  return mediator
}
