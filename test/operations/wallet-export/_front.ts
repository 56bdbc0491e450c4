/** The public address of an agent: proxies that lead to the current agent, or refuse while there is none. */
import { openProxy } from '../../support/proxy.ts'

export type Front = Awaited<ReturnType<typeof openFront>>

export async function openFront() {
  const [rest, didcomm] = [await openProxy(), await openProxy()]
  return {
    restUrl: rest.url,
    didcommUrl: didcomm.url,
    leadTo(agent: { url: string; didcommUrl: string } | undefined) {
      rest.leadTo(agent?.url)
      didcomm.leadTo(agent?.didcommUrl)
    },
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([rest, didcomm].map((proxy) => proxy[Symbol.asyncDispose]()))),
  }
}
