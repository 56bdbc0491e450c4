/**
 * Spans of outgoing requests, by the semantic conventions for HTTP clients. Paths are left out: those of
 * mailboxes and webhooks are secret.
 */
import { activeSpan, inSpan, type SpanStart } from '../spans.ts'

/**
 * Runs a request in a span, if another span is active. A response with a status other than 2xx or 3xx fails
 * it.
 */
export function inCall<T>(method: 'GET' | 'POST', url: string, call: () => Promise<T>): Promise<T> {
  return inSpan(
    () => callSpan(method, url),
    async () => {
      const result = await call()
      const { status } = Object(result) as { status?: unknown }
      if (typeof status !== 'number') return result
      activeSpan()?.set({ 'http.response.status_code': status })
      if (status >= 400) activeSpan()?.fail(String(status))
      return result
    },
  )
}

function callSpan(method: string, text: string): SpanStart {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const port = url && (url.port || (url.protocol === 'https:' ? '443' : '80'))
  return {
    name: method,
    kind: 'client',
    isDetail: true,
    attributes: {
      'http.request.method': method,
      ...(url && { 'server.address': url.hostname, 'server.port': Number(port) }),
    },
  }
}
