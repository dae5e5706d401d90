import { Body, Controller, HttpCode, Post, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, RequiresScope } from '../auth/decorators.js';
import { Log } from '../log/log.js';
import { Problems } from '../problems/problems.decorator.js';
import { CodecBody } from './codec.contract.js';
import { CodecService } from './codec.service.js';

/** With and without the namespace in the path: Temporal's CLI fills in `{namespace}`. Parley has one, so it is not looked at. */
@ApiTags('operations')
@RequiresScope('codec:decode')
@Controller('codec')
export class CodecController {
  constructor(
    private readonly codec: CodecService,
    private readonly log: Log,
  ) {}

  @Post('decode')
  @HttpCode(200)
  @ApiOperation({ summary: 'Open Temporal payloads' })
  @ApiResponse({ status: 200, standardSchema: CodecBody })
  @Problems('body_invalid', 'body_too_large')
  @SerializeOptions({ schema: CodecBody })
  decode(@CurrentActor() actor: Actor, @Body({ schema: CodecBody }) body: CodecBody): Promise<CodecBody> {
    this.note(actor, 'payloads_decoded', body);
    return this.codec.decode(body);
  }

  @Post('encode')
  @HttpCode(200)
  @ApiOperation({ summary: 'Close Temporal payloads' })
  @ApiResponse({ status: 200, standardSchema: CodecBody })
  @Problems('body_invalid', 'body_too_large')
  @SerializeOptions({ schema: CodecBody })
  encode(@CurrentActor() actor: Actor, @Body({ schema: CodecBody }) body: CodecBody): Promise<CodecBody> {
    this.note(actor, 'payloads_encoded', body);
    return this.codec.encode(body);
  }

  @Post(':namespace/decode')
  @HttpCode(200)
  @ApiOperation({ summary: 'Open Temporal payloads of a namespace' })
  @ApiParam({ name: 'namespace', type: String })
  @ApiResponse({ status: 200, standardSchema: CodecBody })
  @Problems('body_invalid', 'body_too_large')
  @SerializeOptions({ schema: CodecBody })
  decodeIn(@CurrentActor() actor: Actor, @Body({ schema: CodecBody }) body: CodecBody): Promise<CodecBody> {
    return this.decode(actor, body);
  }

  /** Who looked, and at how much. Payloads of all tenants pass here, so it is the operator's log and no tenant's audit record. */
  private note(actor: Actor, event: string, { payloads }: CodecBody): void {
    this.log.info({ event, tenant: actor.tenant, actor: actor.subject, payloads: payloads.length }, 'codec used');
  }
}
