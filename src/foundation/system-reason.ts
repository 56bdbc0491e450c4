/** Errors of the operating system in plain words. */

/** Plain words by code (errno(3) and name resolution). Each continues "The file x cannot be read: …". */
// prettier-ignore
const reasons: Readonly<Record<string, string>> = {
  EACCES:        'permission denied',
  EADDRINUSE:    'the port is in use',
  EADDRNOTAVAIL: 'the address is not one of this machine',
  EAGAIN:        'the system is out of resources for the moment',
  EAI_AGAIN:     'the name server does not answer',
  EBUSY:         'it is in use',
  ECONNABORTED:  'the connection was aborted',
  ECONNREFUSED:  'nothing listens there',
  ECONNRESET:    'the other side closed the connection',
  EDQUOT:        'the disk quota is used up',
  EEXIST:        'it exists already',
  EFBIG:         'the file is too large',
  EHOSTDOWN:     'the host is down',
  EHOSTUNREACH:  'no route leads to the host',
  EINVAL:        'the system does not allow it',
  EIO:           'the disk failed',
  EISDIR:        'it is a folder',
  ELOOP:         'its symbolic links lead in a circle',
  EMFILE:        'too many files are open',
  ENAMETOOLONG:  'the name is too long',
  ENETDOWN:      'the network is down',
  ENETUNREACH:   'the network cannot be reached',
  ENFILE:        'too many files are open on this machine',
  ENOENT:        'there is no such file or folder',
  ENOEXEC:       'it is not a program for this machine',
  ENOMEM:        'the memory is used up',
  ENOSPC:        'the disk is full',
  ENOTDIR:       'a part of its path is not a folder',
  ENOTEMPTY:     'the folder is not empty',
  ENOTFOUND:     'there is no host of this name',
  EPERM:         'the system does not allow it',
  EPIPE:         'the other side has closed it',
  EROFS:         'the disk is read-only',
  ETIMEDOUT:     'no answer came in time',
  ETXTBSY:       'it is in use',
  EXDEV:         'it is on another disk',
  UND_ERR_CONNECT_TIMEOUT: 'no answer came in time',
  UND_ERR_SOCKET: 'the other side closed the connection',
}

/** Describes an error of the operating system; falls back to its code or message. */
export function systemReason(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code === 'string') return reasons[code] ?? code
  return typeof message === 'string' ? message : String(error)
}
