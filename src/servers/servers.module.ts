import { Module } from '@nestjs/common';
import { ServersController } from './servers.controller.js';
import { Servers } from './servers.service.js';

@Module({ controllers: [ServersController], providers: [Servers] })
export class ServersModule {}
